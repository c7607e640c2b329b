//! Endpoint store.

use std::time::Duration;

use async_trait::async_trait;

use super::{SqlExecutor, SqlStore, Statement, Value, query_readable, read_endpoint};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{EndpointId, Timestamp};
use crate::store::EndpointStore;
use crate::webhook::{Endpoint, Event, KeyId, Topic};

/// Deliveries of a removed endpoint with this id would belong to the new one.
const ADD: &str = "
    INSERT INTO forum_api_endpoints
        (id, version, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
    WHERE NOT EXISTS (SELECT 1 FROM forum_api_deliveries WHERE endpoint = ?1)
    ON CONFLICT (id) DO NOTHING";

/// Applies if the version is `?2`. Enabling an endpoint ends its failure period.
pub(crate) const UPDATE: &str = "
    UPDATE forum_api_endpoints
    SET version = version + 1, url = ?3, topics = ?4, owner = ?5, enabled = ?6, created_at = ?7,
        secret = ?8, pending_secret = ?9, pending_from = ?10,
        failing_since = CASE WHEN ?6 AND NOT enabled THEN NULL ELSE failing_since END,
        auto_disabled = auto_disabled AND NOT ?6
    WHERE id = ?1 AND version = ?2";

const FIND: &str = "
    SELECT id, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from, version, failing_since, is_slow,
        auto_disabled
    FROM forum_api_endpoints WHERE id = ?1";

pub(crate) const ALL: &str = "
    SELECT id, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from, version, failing_since, is_slow,
        auto_disabled
    FROM forum_api_endpoints ORDER BY number";

const REMOVE: &str = "DELETE FROM forum_api_endpoints WHERE id = ?1";

pub(crate) const KEY_ID: &str = "SELECT key_id FROM forum_api_webhook_key";

fn disable_if_failing_sql<E: SqlExecutor>() -> String {
    format!(
        "UPDATE forum_api_endpoints SET enabled = FALSE, auto_disabled = TRUE, version = version + 1
        WHERE id = ?2 AND enabled AND failing_since <= {} - ?3",
        E::NOW
    )
}

#[async_trait]
impl<E: SqlExecutor> EndpointStore for SqlStore<E> {
    async fn add(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        let add = Statement::new(ADD, values(endpoint));
        Ok(self.0.change_audited(add, audit).await? > 0)
    }

    async fn find(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>> {
        self.first(Statement::new(FIND, [id.into()]), read_endpoint).await
    }

    async fn update(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        let update = Statement::new(UPDATE, values(endpoint));
        Ok(self.0.change_audited(update, audit).await? > 0)
    }

    async fn disable_if_failing(
        &self,
        id: &EndpointId,
        period: Duration,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let values = [self.0.time(now).into(), id.into(), period.into()];
        let disable = Statement::new(disable_if_failing_sql::<E>(), values);
        Ok(self.0.change_audited(disable, audit).await? > 0)
    }

    async fn remove(&self, id: &EndpointId, audit: &AuditEntry) -> BackendResult<bool> {
        let remove = Statement::new(REMOVE, [id.into()]);
        Ok(self.0.change_audited(remove, audit).await? > 0)
    }

    async fn list(&self) -> BackendResult<Vec<Endpoint>> {
        query_readable(&self.0, "endpoints", Statement::new(ALL, []), read_endpoint).await
    }

    async fn is_subscribed(&self, topic: &Topic) -> BackendResult<bool> {
        let find = Statement::new(Event::IS_SUBSCRIBED_SQL, [topic.into()]);
        let is_subscribed = self.first(find, |row| row.value("is_subscribed")).await?;
        Ok(is_subscribed.unwrap_or_default())
    }

    async fn key_id(&self) -> BackendResult<Option<KeyId>> {
        let find = Statement::new(KEY_ID, []);
        self.first(find, |row| row.value("key_id")).await
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool> {
        self.0.replace_key(former, key, endpoints, audit).await
    }
}

/// Returns the parameters of [`ADD`] and [`UPDATE`].
pub(crate) fn values(endpoint: &Endpoint) -> [Value; 10] {
    let pending = endpoint.pending_secret.as_ref();
    [
        (&endpoint.id).into(),
        endpoint.version.into(),
        endpoint.url.as_str().into(),
        (&endpoint.topics).into(),
        (&endpoint.owner).into(),
        endpoint.enabled.into(),
        endpoint.created_at.into(),
        (&endpoint.secret).into(),
        pending.map(|pending| &pending.secret).into(),
        pending.map(|pending| pending.activates_at).into(),
    ]
}
