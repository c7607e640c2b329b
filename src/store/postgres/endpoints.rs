//! Statements about endpoints: an operation of [`Endpoints`](crate::store::Endpoints) each.

use super::Statement;
use super::statement::statements;
use super::text::{base64, bytes, if_any, millis_if_any, time, truth};
use crate::error::{Fault, Stored};
use crate::model::{EndpointId, UserId};
use crate::webhook::{Endpoint, KeyId, Pending, Sealed, Topics};

/// The columns of an endpoint, as [`endpoint`] reads them.
macro_rules! columns {
    () => {
        "endpoint.id, endpoint.url, endpoint.topics, endpoint.owner, endpoint.enabled::TEXT,
    endpoint.created_at::TEXT, encode(endpoint.secret, 'base64'), encode(endpoint.pending_secret, 'base64'),
    endpoint.pending_from::TEXT, endpoint.version::TEXT"
    };
}

pub(super) use columns;

macro_rules! select {
    () => {
        concat!("SELECT ", columns!(), "\nFROM forum_api_endpoints endpoint")
    };
}

statements! {
    /// Adds an endpoint. It changes one row, or none when the id is taken, or not all is swept of a removed one that
    /// had it.
    add(endpoint: &Endpoint) binds (parameters(endpoint)) to "\
INSERT INTO forum_api_endpoints
    (id, version, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from)
SELECT $1, $2::TEXT::BIGINT, $3, $4, $5, $6::TEXT::BOOLEAN, $7::TEXT::BIGINT, decode($8, 'base64'),
    CASE WHEN $10 <> '' THEN decode($9, 'base64') END, NULLIF($10, '')::BIGINT
WHERE NOT EXISTS (SELECT FROM forum_api_deliveries WHERE endpoint = $1)
ON CONFLICT (id) DO NOTHING";

    /// Finds an endpoint: one row for [`endpoint`], or none.
    find(id: &EndpointId) binds [id] to concat!(select!(), "\nWHERE id = $1");

    /// Puts an endpoint in the place of its former self of the same version. It changes one row, or none when that is
    /// not there any more.
    update(endpoint: &Endpoint) binds (parameters(endpoint)) to "\
UPDATE forum_api_endpoints SET
    version = version + 1, url = $3, topics = $4, owner = $5, enabled = $6::TEXT::BOOLEAN,
    created_at = $7::TEXT::BIGINT, secret = decode($8, 'base64'),
    pending_secret = CASE WHEN $10 <> '' THEN decode($9, 'base64') END, pending_from = NULLIF($10, '')::BIGINT
WHERE id = $1 AND version = $2::TEXT::BIGINT";

    /// Removes an endpoint. It changes one row, or none when there is no such endpoint.
    remove(id: &EndpointId) binds [id] to "DELETE FROM forum_api_endpoints WHERE id = $1";

    /// Lists all endpoints, in the order in which they were added: rows for [`endpoint`].
    all() binds [] to concat!(select!(), "\nORDER BY number");

    /// Finds the id of the key that encrypts the secrets: one row for [`key`], or none before the first record.
    key_id() binds [] to "SELECT key_id FROM forum_api_webhook_key";

    /// Records the id of a key in the place of the former one, and replaces the secrets of the endpoints. It returns one
    /// row for [`key`], or none, and changes nothing, when another id is recorded or an endpoint is not stored in its
    /// version.
    replace_key(former: Option<&KeyId>, key: &KeyId, endpoints: &[Endpoint])
        binds (key_parameters(former, key, endpoints)) to "\
WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($3::TEXT::JSON) AS given (id TEXT, version BIGINT, secret TEXT, pending TEXT)
), stored AS MATERIALIZED (
    SELECT id, version FROM forum_api_endpoints WHERE id IN (SELECT id FROM given) ORDER BY id FOR UPDATE
), recorded AS (
    INSERT INTO forum_api_webhook_key AS record (only_row, key_id)
    SELECT TRUE, $2
    WHERE (SELECT count(*) FROM given) = (SELECT count(*) FROM stored JOIN given USING (id, version))
        AND ($1 = '' OR EXISTS (SELECT FROM forum_api_webhook_key WHERE key_id = $1))
    ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id WHERE record.key_id = $1
    RETURNING key_id
), replaced AS (
    UPDATE forum_api_endpoints endpoint
    SET version = endpoint.version + 1, secret = decode(given.secret, 'base64'),
        pending_secret = decode(given.pending, 'base64')
    FROM given, recorded WHERE endpoint.id = given.id
)
SELECT key_id FROM recorded";
}

fn parameters(endpoint: &Endpoint) -> Vec<String> {
    let pending = endpoint.pending.as_ref();
    let pending_secret = pending.map(|pending| base64(pending.secret.as_bytes()));
    vec![
        endpoint.id.to_string(),
        endpoint.version.to_string(),
        endpoint.url.clone(),
        endpoint.topics.to_json(),
        endpoint.owner.to_string(),
        endpoint.enabled.to_string(),
        endpoint.created_at.as_millis().to_string(),
        base64(endpoint.secret.as_bytes()),
        pending_secret.unwrap_or_default(),
        millis_if_any(pending.map(|pending| pending.from)),
    ]
}

/// An id is at least one character long, so the empty text means that none is recorded.
fn key_parameters(former: Option<&KeyId>, key: &KeyId, endpoints: &[Endpoint]) -> [String; 3] {
    let given = endpoints.iter().map(|endpoint| {
        let pending = endpoint.pending.as_ref();
        serde_json::json!({
            "id": endpoint.id,
            "version": endpoint.version,
            "secret": base64(endpoint.secret.as_bytes()),
            "pending": pending.map(|pending| base64(pending.secret.as_bytes())),
        })
    });
    [
        former.map(KeyId::to_string).unwrap_or_default(),
        key.to_string(),
        serde_json::Value::from_iter(given).to_string(),
    ]
}

/// Decodes the id of a key from a row of [`key_id`] or [`replace_key`].
///
/// # Errors
/// When the row has another form.
pub fn key(columns: &[&str]) -> Stored<KeyId> {
    let id = columns.first().and_then(|id| KeyId::new(id));
    id.ok_or_else(|| Fault::new("a row of forum_api_webhook_key holds no id of a key"))
}

/// The endpoint that a row of [`find`] or [`all`] holds, of which every column is a text.
///
/// # Errors
/// When it is no such row.
pub fn endpoint(columns: &[&str]) -> Stored<Endpoint> {
    read(columns).ok_or_else(|| Fault::new("a row of forum_api_endpoints holds no endpoint"))
}

pub(super) fn read(columns: &[&str]) -> Option<Endpoint> {
    let [
        id,
        url,
        topics,
        owner,
        enabled,
        created_at,
        secret,
        pending_secret,
        pending_from,
        version,
    ] = columns
    else {
        return None;
    };
    let pending = if_any(pending_from, |from| {
        Some(Pending {
            secret: Sealed::new(bytes(pending_secret)?),
            from: time(from)?,
        })
    })?;
    Some(Endpoint {
        id: EndpointId::new(id)?,
        url: (*url).into(),
        topics: Topics::from_json(topics)?,
        owner: UserId::new(owner)?,
        enabled: truth(enabled)?,
        created_at: time(created_at)?,
        secret: Sealed::new(bytes(secret)?),
        pending,
        version: version.parse().ok()?,
    })
}
