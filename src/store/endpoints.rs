//! Trait of endpoint stores.

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::EndpointId;
use crate::webhook::{Endpoint, KeyId};

/// Stores the endpoints of webhooks, at most some hundreds.
#[async_trait]
pub trait EndpointStore: Send + Sync + 'static {
    /// Adds an endpoint. Returns `false`, and changes nothing, when its id is taken, or deliveries of a removed endpoint
    /// with this id are not swept yet.
    async fn add(&self, endpoint: &Endpoint) -> BackendResult<bool>;

    /// Finds the endpoint with this id.
    async fn find(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>>;

    /// Replaces the endpoint of the same id and `version`, and increments the version. Returns `false`, and changes
    /// nothing, when that version is not stored.
    async fn update(&self, endpoint: &Endpoint) -> BackendResult<bool>;

    /// Removes an endpoint with its deliveries. Returns `false` when it does not exist. Its deliveries are neither listed
    /// nor claimed afterwards; [`sweep`](super::Deliveries::sweep) frees their space.
    async fn remove(&self, id: &EndpointId) -> BackendResult<bool>;

    /// Lists all endpoints in the order in which they were added.
    async fn list(&self) -> BackendResult<Vec<Endpoint>>;

    /// Returns the id of the key that encrypts the secrets; `None` until one is recorded.
    async fn key_id(&self) -> BackendResult<Option<KeyId>>;

    /// Records `key` in the place of `former`, and replaces the secrets of `endpoints`, which differ from the stored ones
    /// in their secrets only. Each of them becomes the successor of its stored version, as with
    /// [`update`](Self::update). All of it is one transaction.
    ///
    /// Returns `false`, and changes nothing, unless `former` is what [`key_id`](Self::key_id) returns and each endpoint is
    /// stored in its version.
    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
    ) -> BackendResult<bool>;
}
