//! Trait of outbox stores: events that are not fanned out yet.

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::webhook::{Event, delivery_body};

/// Recipients of an event.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FanOut {
    /// Id of the event.
    pub event_id: EventId,
    /// Ids of the endpoints that receive the event; can be empty.
    pub endpoint_ids: Vec<EndpointId>,
    /// `true` to keep the event in the feed; otherwise, it is removed with its last delivery.
    pub stays_in_feed: bool,
}

/// Events that cannot be decoded, and are therefore not delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantine {
    /// Number of events in quarantine, at most [`MAX_COUNT`](Self::MAX_COUNT).
    pub count: u64,
    /// The latest events, newest first.
    pub latest: Vec<QuarantinedEvent>,
}

impl Quarantine {
    /// Largest count: more events are not counted, which bounds the cost.
    pub const MAX_COUNT: u64 = 10_001;
}

/// An event that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuarantinedEvent {
    /// The stored id, which can be malformed.
    pub id: String,
    /// The reason, in one sentence without a period.
    pub reason: String,
}

impl QuarantinedEvent {
    /// Creates an event that cannot be decoded, for tests.
    #[doc(hidden)]
    pub fn new(id: &str, reason: &str) -> Self {
        Self { id: id.into(), reason: reason.into() }
    }
}

/// Body and request of a stored event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent {
    /// The body of its deliveries, without the id of a delivery.
    pub body: String,
    /// Id of the API request that caused the event; `None` for another cause.
    pub request_id: Option<String>,
}

impl StoredEvent {
    /// Returns the body of a delivery of the event.
    pub fn delivery_body(&self, id: &DeliveryId) -> String {
        delivery_body(&self.body, id).unwrap_or_else(|| self.body.clone())
    }
}

/// Stores events until they are fanned out.
#[async_trait]
pub trait OutboxStore: Send + Sync + 'static {
    /// See [`WebhookStores::insert_event`](super::WebhookStores::insert_event).
    async fn insert(&self, event: &Event) -> BackendResult<()>;

    /// See [`WebhookStores::pending_events`](super::WebhookStores::pending_events).
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>>;

    /// See [`WebhookStores::quarantined_events`](super::WebhookStores::quarantined_events).
    async fn quarantined(&self, limit: u32) -> BackendResult<Quarantine>;

    /// See [`WebhookStores::find_event`](super::WebhookStores::find_event).
    async fn find(&self, id: &EventId) -> BackendResult<Option<StoredEvent>>;

    /// Queues a delivery of each event to each of its endpoints that exists and is enabled, and marks the events as fanned
    /// out, in one transaction.
    ///
    /// Ignores events that were fanned out before, so that a repeated call has no effect. An event without recipients
    /// is deleted, unless it stays in the feed.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The caller repeats the call.
    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()>;
}
