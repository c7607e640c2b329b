//! Endpoint store.

use async_trait::async_trait;

use super::webhook_tables::MemoryWebhookStore;
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::{EndpointId, Timestamp};
use crate::store::EndpointStore;
use crate::webhook::{Endpoint, KeyId};

#[async_trait]
impl EndpointStore for MemoryWebhookStore {
    async fn add(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let is_new = tables.endpoint(&endpoint.id).is_none()
            && !tables
                .rows
                .all()
                .any(|row| row.delivery.endpoint_id == endpoint.id);
        if is_new {
            tables.endpoints.push(endpoint.clone());
            tables.audit.record(audit, 1);
        }
        Ok(is_new)
    }

    async fn find(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>> {
        Ok(lock(&self.0).endpoint(id).cloned())
    }

    async fn update(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let replaced = tables.replace(endpoint);
        tables.audit.record(audit, replaced.into());
        Ok(replaced)
    }

    async fn disable_if_failing(
        &self,
        id: &EndpointId,
        since: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let is_failing = |one: &Endpoint| one.failing_since.is_some_and(|at| at <= since);
        let mut endpoints = tables.endpoints.iter_mut();
        let failing = endpoints.find(|one| one.id == *id && one.enabled && is_failing(one));
        let disabled = failing.map(|endpoint| {
            endpoint.enabled = false;
            endpoint.auto_disabled = true;
            endpoint.version += 1;
        });
        tables.audit.record(audit, disabled.is_some().into());
        Ok(disabled.is_some())
    }

    async fn remove(&self, id: &EndpointId, audit: &AuditEntry) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let before = tables.endpoints.len();
        tables.endpoints.retain(|endpoint| endpoint.id != *id);
        let removed = tables.endpoints.len() < before;
        tables.audit.record(audit, removed.into());
        Ok(removed)
    }

    async fn list(&self) -> BackendResult<Vec<Endpoint>> {
        Ok(lock(&self.0).endpoints.clone())
    }

    async fn key_id(&self) -> BackendResult<Option<KeyId>> {
        Ok(lock(&self.0).key.clone())
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool> {
        let mut tables = lock(&self.0);
        let version = |one: &Endpoint| tables.endpoint(&one.id).map(|stored| stored.version);
        let mut given = endpoints.iter();
        let is_current =
            tables.key.as_ref() == former && given.all(|one| version(one) == Some(one.version));
        if is_current {
            tables.key = Some(key.clone());
            for one in endpoints {
                tables.replace(one);
            }
            if let Some(audit) = audit {
                tables.audit.record(audit, 1);
            }
        }
        Ok(is_current)
    }
}
