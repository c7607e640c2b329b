//! Who is told.

use async_trait::async_trait;

use crate::host::Stored;
use crate::model::EndpointId;
use crate::webhook::Endpoint;

/// Keeps endpoints. There are a few of them, at most some hundreds.
#[async_trait]
pub trait Endpoints: Send + Sync + 'static {
    /// Adds an endpoint; `false` when its id is taken, and nothing was changed.
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool>;

    /// The endpoint with this id.
    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>>;

    /// Puts `endpoint` in the place of its former self of the same `version`, whose successor it becomes; `false`
    /// when that is not there any more, and nothing was changed.
    async fn update(&self, endpoint: &Endpoint) -> Stored<bool>;

    /// Removes an endpoint, and with it what was queued for it or kept of it; `false` when there is none.
    async fn remove(&self, id: &EndpointId) -> Stored<bool>;

    /// All of them, in the order in which they were added.
    async fn all(&self) -> Stored<Vec<Endpoint>>;
}
