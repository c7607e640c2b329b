//! Endpoint store.

use async_trait::async_trait;

use super::PostgresStore;
use super::audit::{entry_values, insert_statement, with_entry};
use super::execute::Parameters;
use super::rows::read_endpoint;
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{EndpointId, Timestamp};
use crate::store::EndpointStore;
use crate::webhook::{Endpoint, Event, KeyId, Topic};

const ADD: &str = include_str!("sql/add_endpoint.sql");
const UPDATE: &str = include_str!("sql/update_endpoint.sql");
const FIND: &str = "
SELECT id, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from, version,
    failing_since, auto_disabled
FROM forum_api_endpoints WHERE id = $1";
const ALL: &str = "
SELECT id, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from, version,
    failing_since, auto_disabled
FROM forum_api_endpoints ORDER BY number";
const DISABLE_IF_FAILING: &str = "
UPDATE forum_api_endpoints SET enabled = FALSE, auto_disabled = TRUE, version = version + 1
WHERE id = $1 AND enabled AND failing_since <= $2";
const REMOVE: &str = "DELETE FROM forum_api_endpoints WHERE id = $1";
const KEY_ID: &str = "SELECT key_id FROM forum_api_webhook_key";
/// Common table expressions that replace the key. `recorded` has a row if the key is replaced.
const REPLACE_KEY: &str = include_str!("sql/replace_key.sql");

#[async_trait]
impl EndpointStore for PostgresStore {
    async fn add(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        self.write(ADD, endpoint, audit).await
    }

    async fn find(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>> {
        Ok(self.first(FIND, &[id], read_endpoint).await?)
    }

    async fn update(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        self.write(UPDATE, endpoint, audit).await
    }

    async fn disable_if_failing(
        &self,
        id: &EndpointId,
        since: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let parameters: Parameters<'_> = &[id, &since];
        let disabled = self.execute_audited(DISABLE_IF_FAILING, parameters, audit);
        Ok(disabled.await? > 0)
    }

    async fn remove(&self, id: &EndpointId, audit: &AuditEntry) -> BackendResult<bool> {
        Ok(self.execute_audited(REMOVE, &[id], audit).await? > 0)
    }

    async fn list(&self) -> BackendResult<Vec<Endpoint>> {
        Ok(self.readable("endpoints", ALL, &[], read_endpoint).await?)
    }

    async fn is_subscribed(&self, topic: &Topic) -> BackendResult<bool> {
        let parameters: Parameters<'_> = &[&topic.as_str()];
        let found = self.first(Event::IS_SUBSCRIBED_SQL, parameters, |columns| {
            columns.value("is_subscribed")
        });
        Ok(found.await?.unwrap_or_default())
    }

    async fn key_id(&self) -> BackendResult<Option<KeyId>> {
        Ok(self
            .first(KEY_ID, &[], |columns| columns.value("key_id"))
            .await?)
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool> {
        let ids: Vec<_> = endpoints.iter().map(|one| &one.id).collect();
        let versions: Vec<_> = endpoints.iter().map(|one| one.version).collect();
        let secrets: Vec<_> = endpoints.iter().map(|one| &one.secret).collect();
        let pending = endpoints.iter().map(|one| one.pending_secret.as_ref());
        let pending: Vec<_> = pending
            .map(|pending| pending.map(|pending| &pending.secret))
            .collect();
        let parameters: Parameters<'_> = &[&former, key, &ids, &versions, &secrets, &pending];
        let Some(audit) = audit else {
            let sql = format!("{REPLACE_KEY} SELECT key_id FROM recorded");
            return Ok(!self.query(&sql, parameters).await?.is_empty());
        };
        let insert = insert_statement(parameters.len(), "1 FROM recorded");
        let sql = format!("{REPLACE_KEY}, audited AS ({insert}) SELECT key_id FROM recorded");
        let values = entry_values(audit);
        let parameters = with_entry(parameters, &values);
        Ok(!self.query(&sql, &parameters).await?.is_empty())
    }
}

impl PostgresStore {
    /// Returns `true` if the statement wrote the endpoint.
    async fn write(
        &self,
        sql: &str,
        endpoint: &Endpoint,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let pending = endpoint.pending_secret.as_ref();
        let written = self
            .execute_audited(
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
                    &pending.map(|pending| pending.activates_at),
                ],
                audit,
            )
            .await?;
        Ok(written > 0)
    }
}
