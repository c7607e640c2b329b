//! Trait of endpoint stores.

use std::time::Duration;

use async_trait::async_trait;

use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{EndpointId, Timestamp};
use crate::webhook::{Endpoint, KeyId, Topic};

/// Stores webhook endpoints. It is designed for up to a few hundred endpoints: [`list`](Self::list) returns all.
///
/// A method that takes an [`AuditEntry`] writes it to the [audit log](super::AuditStore) in the transaction of its change.
#[async_trait]
pub trait EndpointStore: Send + Sync + 'static {
    /// Adds an endpoint. Returns `false`, and changes nothing, if an endpoint with this id exists, or if it was removed
    /// and its deliveries are not swept yet.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn add(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool>;

    /// See [`WebhookStores::find_endpoint`](super::WebhookStores::find_endpoint).
    async fn find(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>>;

    /// Replaces the endpoint with the same id and `version`, and increments the version. Does not change
    /// [`failing_since`](Endpoint::failing_since) and [`auto_disabled`](Endpoint::auto_disabled), except that enabling a
    /// disabled endpoint resets both. Returns `false`, and changes nothing, if that version is not stored.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn update(&self, endpoint: &Endpoint, audit: &AuditEntry) -> BackendResult<bool>;

    /// Disables an enabled endpoint whose [`failing_since`](Endpoint::failing_since) is at least `period` before `now`, and
    /// sets [`auto_disabled`](Endpoint::auto_disabled). Returns `false`, and changes nothing, for other endpoints.
    ///
    /// `now` is the caller's time. A backend that several machines share may use its own clock instead.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn disable_if_failing(
        &self,
        id: &EndpointId,
        period: Duration,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool>;

    /// Removes an endpoint with its deliveries. Returns `false` if it does not exist. The other methods ignore its
    /// deliveries afterwards, and [`sweep`](super::DeliveryStore::sweep) deletes them.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn remove(&self, id: &EndpointId, audit: &AuditEntry) -> BackendResult<bool>;

    /// See [`WebhookStores::list_endpoints`](super::WebhookStores::list_endpoints).
    async fn list(&self) -> BackendResult<Vec<Endpoint>>;

    /// See [`WebhookStores::is_subscribed`](super::WebhookStores::is_subscribed). Default: searches [`list`](Self::list).
    async fn is_subscribed(&self, topic: &Topic) -> BackendResult<bool> {
        let endpoints = self.list().await?;
        let mut enabled = endpoints.iter().filter(|endpoint| endpoint.enabled);
        Ok(enabled.any(|endpoint| endpoint.topics.contains(topic)))
    }

    /// See [`WebhookStores::key_id`](super::WebhookStores::key_id).
    async fn key_id(&self) -> BackendResult<Option<KeyId>>;

    /// Replaces the recorded key `former` with `key` and stores the secrets of `endpoints`, in one transaction.
    /// `former` is `None` if no key is recorded yet.
    ///
    /// `endpoints` differ from the stored ones only in their secrets. The store increments their
    /// versions, as [`update`](Self::update) does.
    ///
    /// Returns `false`, and changes nothing, if the recorded key is not `former`, or if the stored version of an
    /// endpoint differs from its `version` in `endpoints`. `audit` is `None` if the library itself records a key for
    /// the first time.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
        audit: Option<&AuditEntry>,
    ) -> BackendResult<bool>;
}
