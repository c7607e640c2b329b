//! Endpoint store.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::SqliteWebhookStore;
use super::execute::{change, changes, first, readable};
use super::rows::read_endpoint;
use crate::error::BackendResult;
use crate::model::EndpointId;
use crate::store::EndpointStore;
use crate::webhook::{Endpoint, Event, KeyId, Topic};

pub(super) const ADD: &str = include_str!("sql/add_endpoint.sql");
pub(super) const UPDATE: &str = include_str!("sql/update_endpoint.sql");

pub(super) const FIND: &str = "SELECT * FROM forum_api_endpoints WHERE id = ?1";

const REMOVE: &str = "DELETE FROM forum_api_endpoints WHERE id = ?1";

const ALL: &str = "SELECT * FROM forum_api_endpoints ORDER BY number";

const VERSION: &str = "SELECT version FROM forum_api_endpoints WHERE id = ?1";

const KEY: &str = "SELECT key_id FROM forum_api_webhook_key";

const SET_KEY: &str = "
    INSERT INTO forum_api_webhook_key (only_row, key_id) VALUES (1, ?1)
    ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id";

#[async_trait]
impl EndpointStore for SqliteWebhookStore {
    async fn add(&self, endpoint: &Endpoint) -> BackendResult<bool> {
        self.put(ADD, endpoint).await
    }

    async fn find(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>> {
        let id = id.clone();
        self.read(move |connection| first(connection, FIND, [id], read_endpoint))
            .await
    }

    async fn update(&self, endpoint: &Endpoint) -> BackendResult<bool> {
        self.put(UPDATE, endpoint).await
    }

    async fn remove(&self, id: &EndpointId) -> BackendResult<bool> {
        let id = id.clone();
        self.write(move |savepoint| changes(savepoint, REMOVE, [id]))
            .await
    }

    async fn list(&self) -> BackendResult<Vec<Endpoint>> {
        self.read(all_endpoints).await
    }

    async fn is_subscribed(&self, topic: &Topic) -> BackendResult<bool> {
        let topic = topic.to_string();
        self.read(move |connection| {
            let is_subscribed = |row: &Row<'_>| row.get("is_subscribed");
            let found = first(connection, Event::IS_SUBSCRIBED_SQL, [topic], is_subscribed)?;
            Ok(found.unwrap_or_default())
        })
        .await
    }

    async fn key_id(&self) -> BackendResult<Option<KeyId>> {
        self.read(key_id).await
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
    ) -> BackendResult<bool> {
        let (former, key, endpoints) = (former.cloned(), key.clone(), endpoints.to_vec());
        self.write(move |savepoint| replace_key(savepoint, former.as_ref(), &key, &endpoints))
            .await
    }
}

impl SqliteWebhookStore {
    /// Returns whether the statement wrote the endpoint.
    async fn put(&self, sql: &'static str, endpoint: &Endpoint) -> BackendResult<bool> {
        let endpoint = endpoint.clone();
        self.write(move |savepoint| put(savepoint, sql, &endpoint))
            .await
    }
}

fn put(connection: &Connection, sql: &str, endpoint: &Endpoint) -> Result<bool> {
    let pending = endpoint.pending_secret.as_ref();
    let row = params![
        endpoint.id,
        endpoint.version,
        endpoint.url,
        endpoint.topics,
        endpoint.owner,
        endpoint.enabled,
        endpoint.created_at,
        endpoint.secret,
        pending.map(|pending| &pending.secret),
        pending.map(|pending| pending.activates_at),
    ];
    changes(connection, sql, row)
}

fn key_id(connection: &Connection) -> Result<Option<KeyId>> {
    first(connection, KEY, [], |row| row.get("key_id"))
}

/// Checks all versions before the first change.
fn replace_key(
    connection: &Connection,
    former: Option<&KeyId>,
    key: &KeyId,
    endpoints: &[Endpoint],
) -> Result<bool> {
    let mut is_current = key_id(connection)?.as_ref() == former;
    for endpoint in endpoints {
        let version = first(connection, VERSION, params![endpoint.id], |row| {
            row.get("version")
        })?;
        is_current &= version == Some(endpoint.version);
    }
    if is_current {
        change(connection, SET_KEY, [key])?;
        for endpoint in endpoints {
            put(connection, UPDATE, endpoint)?;
        }
    }
    Ok(is_current)
}

/// Returns the endpoints that can be decoded, in the order in which they were added.
pub(super) fn all_endpoints(connection: &Connection) -> Result<Vec<Endpoint>> {
    readable(connection, "endpoints", ALL, [], read_endpoint)
}
