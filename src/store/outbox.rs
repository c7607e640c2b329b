//! Trait of outbox stores: events that are not fanned out yet.

use async_trait::async_trait;

use super::LibraryStore;
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
///
/// A host adds an event in the transaction of the change that caused the event: to the table of the outbox
/// ([example](crate::guide::outbox)), or to a [`PendingEventStore`](super::PendingEventStore) of its own.
///
/// Only the library implements this trait.
#[async_trait]
#[doc(alias = "transactional outbox")]
pub trait OutboxStore: LibraryStore + Send + Sync + 'static {
    /// Adds an event. Changes nothing if an event with its id is stored. If a host calls it after the transaction of the
    /// change, the event is lost when the process stops in between.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn insert(&self, event: &Event) -> BackendResult<()>;

    /// Returns up to `limit` events that are not fanned out yet, oldest first. Events with the same time are in the
    /// order in which they were inserted.
    ///
    /// The store finds pending events by their state, not by their position, so that it does not miss an event whose
    /// transaction commits late. It decodes each event separately. It moves an event that cannot be decoded to the
    /// [quarantine](Self::quarantined), logs its id and counts it in the metrics; other events are not delayed.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    #[doc(hidden)]
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>>;

    /// Returns the number of events that could not be decoded, and the latest `limit` of them. They stay in quarantine
    /// until an operator repairs or deletes their rows.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn quarantined(&self, limit: u32) -> BackendResult<Quarantine>;

    /// Returns an event, even after it was fanned out; `None` if it is not stored. An event is removed with its last
    /// delivery, or when it leaves the feed, whichever is later.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn find(&self, id: &EventId) -> BackendResult<Option<StoredEvent>>;

    /// Queues a delivery of each event to each of its endpoints that exists and is enabled, and marks the events as fanned
    /// out, in one transaction.
    ///
    /// Ignores events that were fanned out before, so that a repeated call has no effect. An event without recipients
    /// is deleted, unless it stays in the feed.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The caller repeats the call.
    #[doc(hidden)]
    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()>;
}
