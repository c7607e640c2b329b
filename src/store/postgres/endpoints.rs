//! Endpoint store.

use async_trait::async_trait;

use super::Postgres;
use super::execute::{Columns, Parameters, Result};
use crate::error::Stored;
use crate::model::EndpointId;
use crate::store::Endpoints;
use crate::webhook::{Endpoint, KeyId, Pending};

/// The columns of an endpoint, as [`read_endpoint`] reads them.
macro_rules! endpoint_columns {
    () => {
        "endpoint.id, endpoint.url, endpoint.topics, endpoint.owner, endpoint.enabled, endpoint.created_at,
    endpoint.secret, endpoint.pending_secret, endpoint.pending_from, endpoint.version"
    };
}

pub(super) use endpoint_columns;

/// Deliveries that a removed endpoint of this id left would become the new one's.
const ADD: &str = "
INSERT INTO forum_api_endpoints
    (id, version, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
WHERE NOT EXISTS (SELECT FROM forum_api_deliveries WHERE endpoint = $1)
ON CONFLICT (id) DO NOTHING";

const UPDATE: &str = "
UPDATE forum_api_endpoints SET
    version = version + 1, url = $3, topics = $4, owner = $5, enabled = $6, created_at = $7,
    secret = $8, pending_secret = $9, pending_from = $10
WHERE id = $1 AND version = $2";

const FIND: &str = concat!(
    "SELECT ",
    endpoint_columns!(),
    " FROM forum_api_endpoints endpoint WHERE id = $1"
);

const ALL: &str = concat!(
    "SELECT ",
    endpoint_columns!(),
    " FROM forum_api_endpoints endpoint ORDER BY number"
);

const REMOVE: &str = "DELETE FROM forum_api_endpoints WHERE id = $1";

const KEY_ID: &str = "SELECT key_id FROM forum_api_webhook_key";

/// `$1` is null when no key is recorded yet.
const REPLACE_KEY: &str = "
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($3::TEXT[], $4::BIGINT[], $5::BYTEA[], $6::BYTEA[]) AS given (id, version, secret, pending)
), stored AS MATERIALIZED (
    SELECT id, version FROM forum_api_endpoints WHERE id IN (SELECT id FROM given) ORDER BY id FOR UPDATE
), recorded AS (
    INSERT INTO forum_api_webhook_key AS record (only_row, key_id)
    SELECT TRUE, $2
    WHERE (SELECT count(*) FROM given) = (SELECT count(*) FROM stored JOIN given USING (id, version))
        AND ($1::TEXT IS NULL OR EXISTS (SELECT FROM forum_api_webhook_key WHERE key_id = $1))
    ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id WHERE record.key_id = $1
    RETURNING key_id
), replaced AS (
    UPDATE forum_api_endpoints endpoint
    SET version = endpoint.version + 1, secret = given.secret, pending_secret = given.pending
    FROM given, recorded WHERE endpoint.id = given.id
)
SELECT key_id FROM recorded";

#[async_trait]
impl Endpoints for Postgres {
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool> {
        self.write(ADD, endpoint).await
    }

    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>> {
        Ok(self.first(FIND, &[id], read_endpoint).await?)
    }

    async fn update(&self, endpoint: &Endpoint) -> Stored<bool> {
        self.write(UPDATE, endpoint).await
    }

    async fn remove(&self, id: &EndpointId) -> Stored<bool> {
        Ok(self.execute(REMOVE, &[id]).await? > 0)
    }

    async fn all(&self) -> Stored<Vec<Endpoint>> {
        Ok(self.readable("endpoints", ALL, &[], read_endpoint).await?)
    }

    async fn key_id(&self) -> Stored<Option<KeyId>> {
        Ok(self.first(KEY_ID, &[], |columns| columns.value()).await?)
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
    ) -> Stored<bool> {
        let ids: Vec<_> = endpoints.iter().map(|one| &one.id).collect();
        let versions: Vec<_> = endpoints.iter().map(|one| one.version).collect();
        let secrets: Vec<_> = endpoints.iter().map(|one| &one.secret).collect();
        let pending =
            |one: &'_ Endpoint| one.pending.as_ref().map(|pending| pending.secret.clone());
        let pending: Vec<_> = endpoints.iter().map(pending).collect();
        let parameters: Parameters<'_> = &[&former, key, &ids, &versions, &secrets, &pending];
        Ok(!self.query(REPLACE_KEY, parameters).await?.is_empty())
    }
}

impl Postgres {
    /// Returns whether the statement wrote the endpoint.
    async fn write(&self, sql: &str, endpoint: &Endpoint) -> Stored<bool> {
        let pending = endpoint.pending.as_ref();
        let written = self
            .execute(
                sql,
                &[
                    &endpoint.id,
                    &endpoint.version,
                    &endpoint.url,
                    &endpoint.topics,
                    &endpoint.owner,
                    &endpoint.enabled,
                    &endpoint.created_at,
                    &endpoint.secret,
                    &pending.map(|pending| &pending.secret),
                    &pending.map(|pending| pending.from),
                ],
            )
            .await?;
        Ok(written > 0)
    }
}

pub(super) fn read_endpoint(columns: &mut Columns<'_>) -> Result<Endpoint> {
    Ok(Endpoint {
        id: columns.value()?,
        url: columns.value()?,
        topics: columns.value()?,
        owner: columns.value()?,
        enabled: columns.value()?,
        created_at: columns.value()?,
        secret: columns.value()?,
        pending: read_pending(columns)?,
        version: columns.value()?,
    })
}

fn read_pending(columns: &mut Columns<'_>) -> Result<Option<Pending>> {
    let secret: Option<_> = columns.value()?;
    let from: Option<_> = columns.value()?;
    let pending = secret.zip(from);
    Ok(pending.map(|(secret, from)| Pending { secret, from }))
}
