//! Endpoint store.

use async_trait::async_trait;
use rusqlite::{Connection, Result, Row, params};

use super::SqliteWebhookStore;
use super::audit::{change_audited, record};
use super::execute::{change, changes, first, readable};
use super::rows::read_endpoint;
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{EndpointId, Timestamp};
use crate::store::EndpointStore;
use crate::webhook::{Endpoint, Event, KeyId, Topic};

pub(super) const ADD: &str = include_str!("sql/add_endpoint.sql");
pub(super) const UPDATE: &str = include_str!("sql/update_endpoint.sql");

pub(super) const FIND: &str = "SELECT * FROM forum_api_endpoints WHERE id = ?1";

pub(super) const DISABLE_IF_FAILING: &str = "
    UPDATE forum_api_endpoints SET enabled = FALSE, auto_disabled = TRUE, version = version + 1
    WHERE id = ?1 AND enabled AND failing_since <= ?2";

const REMOVE: &str = "DELETE FROM forum_api_endpoints WHERE id = ?1";

const ALL: &str = "SELECT * FROM forum_api_endpoints ORDER BY number";

const VERSION: &str = "SELECT version FROM forum_api_endpoints WHERE id = ?1";

const KEY: &str = "SELECT key_id FROM forum_api_webhook_key";

const SET_KEY: &str = "
    INSERT INTO forum_api_webhook_key (only_row, key_id) VALUES (1, ?1)
    ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id";

#[async_trait]
impl EndpointStore for SqliteWebhookStore {
    async fn add(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        self.put(ADD, endpoint, audit).await
    }

    async fn find(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>> {
        let id = id.clone();
        self.read(move |connection| first(connection, FIND, [id], read_endpoint))
            .await
    }

    async fn update(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        self.put(UPDATE, endpoint, audit).await
    }

    async fn disable_if_failing(
        &self,
        id: &EndpointId,
        since: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let (id, audit) = (id.clone(), audit.clone());
        self.write(move |savepoint| {
            let row = params![id, since];
            Ok(change_audited(savepoint, DISABLE_IF_FAILING, row, &audit)? > 0)
        })
        .await
    }

    async fn remove(&self, id: &EndpointId, audit: &AuditEntry) -> BackendResult<bool> {
        let (id, audit) = (id.clone(), audit.clone());
        self.write(move |savepoint| Ok(change_audited(savepoint, REMOVE, [id], &audit)? > 0))
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
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool> {
        let (former, key, endpoints) = (former.cloned(), key.clone(), endpoints.to_vec());
        let audit = audit.cloned();
        self.write(move |savepoint| {
            let replaced = replace_key(savepoint, former.as_ref(), &key, &endpoints)?;
            if let Some(audit) = &audit {
                record(savepoint, audit, replaced.into())?;
            }
            Ok(replaced)
        })
        .await
    }
}

impl SqliteWebhookStore {
    /// Returns `true` if the statement wrote the endpoint.
    async fn put(
        &self,
        sql: &'static str,
        endpoint: &Endpoint,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let (endpoint, audit) = (endpoint.clone(), audit.clone());
        self.write(move |savepoint| {
            let written = put(savepoint, sql, &endpoint)?;
            record(savepoint, &audit, written.into())?;
            Ok(written)
        })
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
