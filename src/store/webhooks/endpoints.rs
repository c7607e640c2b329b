//! Who is told.

use async_trait::async_trait;

use crate::error::Stored;
use crate::model::EndpointId;
use crate::webhook::{Endpoint, KeyId};

/// Keeps endpoints. There are a few of them, at most some hundreds.
#[async_trait]
pub trait Endpoints: Send + Sync + 'static {
    /// Adds an endpoint; `false` when its id is taken, or not all is swept of a removed one that had it, and nothing
    /// was changed.
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool>;

    /// The endpoint with this id.
    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>>;

    /// Puts `endpoint` in the place of its former self of the same `version`, whose successor it becomes; `false`
    /// when that is not there any more, and nothing was changed.
    async fn update(&self, endpoint: &Endpoint) -> Stored<bool>;

    /// Removes an endpoint, and with it what was queued for it or kept of it; `false` when there is none. From then on
    /// nobody sees or claims any of that; what it takes up is freed by [`sweep`](super::Deliveries::sweep).
    async fn remove(&self, id: &EndpointId) -> Stored<bool>;

    /// All of them, in the order in which they were added.
    async fn all(&self) -> Stored<Vec<Endpoint>>;

    /// Returns the id of the key that encrypts the secrets; `None` until one is recorded.
    async fn key_id(&self) -> Stored<Option<KeyId>>;

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
    ) -> Stored<bool>;
}
