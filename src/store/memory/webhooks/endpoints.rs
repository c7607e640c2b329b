//! Endpoints in memory.

use async_trait::async_trait;

use super::MemoryWebhooks;
use crate::host::Stored;
use crate::model::EndpointId;
use crate::store::{Endpoints, lock};
use crate::webhook::Endpoint;

#[async_trait]
impl Endpoints for MemoryWebhooks {
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool> {
        let mut kept = lock(&self.0);
        let is_free = kept.endpoint(&endpoint.id).is_none() && !kept.rows.has(&endpoint.id);
        if is_free {
            kept.endpoints.push(endpoint.clone());
        }
        Ok(is_free)
    }

    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>> {
        Ok(lock(&self.0).endpoint(id).cloned())
    }

    async fn update(&self, endpoint: &Endpoint) -> Stored<bool> {
        let mut kept = lock(&self.0);
        let mut all = kept.endpoints.iter_mut();
        let former = all.find(|one| one.id == endpoint.id && one.version == endpoint.version);
        let successor = || Endpoint {
            version: endpoint.version + 1,
            ..endpoint.clone()
        };
        Ok(former.map(|former| *former = successor()).is_some())
    }

    async fn remove(&self, id: &EndpointId) -> Stored<bool> {
        let mut kept = lock(&self.0);
        let before = kept.endpoints.len();
        kept.endpoints.retain(|endpoint| endpoint.id != *id);
        Ok(kept.endpoints.len() < before)
    }

    async fn all(&self) -> Stored<Vec<Endpoint>> {
        Ok(lock(&self.0).endpoints.clone())
    }
}
