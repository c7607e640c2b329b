//! Trait of outbox stores: events that wait to be fanned out.

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::{EndpointId, EventId, Timestamp};
use crate::webhook::Event;

/// Recipients of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FanOut {
    /// The event.
    pub event: EventId,
    /// The endpoints that receive the event; may be empty.
    pub endpoints: Vec<EndpointId>,
}

/// Events that cannot be read, and are therefore never delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quarantine {
    /// Number of events in quarantine. [`Quarantine::MAX_COUNT`] means: at least as many.
    pub count: u64,
    /// The latest of them, the newest first.
    pub latest: Vec<QuarantinedEvent>,
}

impl Quarantine {
    /// Largest count: more events are not counted.
    pub const MAX_COUNT: u64 = 10_001;
}

/// An event that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedEvent {
    /// The id as it is stored, which may be malformed.
    pub id: String,
    /// The reason, in one sentence without a period.
    pub reason: String,
}

/// Stores events until they are fanned out.
///
/// A host with transactions of its own writes the event there, beside the change that caused it.
#[async_trait]
pub trait OutboxStore: Send + Sync + 'static {
    /// Adds an event. One whose id is there already is left as it is.
    async fn insert(&self, event: &Event) -> BackendResult<()>;

    /// Returns up to `limit` events that were not fanned out yet, the oldest first; those of one moment in the order in
    /// which they were put.
    ///
    /// Events are found by their state, not by their position, so an event that is committed late is found as well. Each is
    /// decoded on its own. One that cannot be decoded goes to the [`quarantine`](Self::quarantined) with its reason, is
    /// logged with its id and counted, and delays no other event.
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>>;

    /// Returns the events that could not be decoded, up to `limit` of them with their reasons. They stay until an
    /// operator repairs or deletes their rows.
    async fn quarantined(&self, limit: u32) -> BackendResult<Quarantine>;

    /// Queues a delivery to each endpoint that is there and enabled by then, all of it or nothing. An event that was
    /// fanned out already is left alone, so that twice is once. An event without a recipient is not kept.
    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()>;
}
