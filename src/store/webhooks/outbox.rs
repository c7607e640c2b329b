//! Events that wait to be fanned out.

use async_trait::async_trait;

use crate::host::Stored;
use crate::model::{EndpointId, EventId, Timestamp};
use crate::webhook::Event;

/// To whom an event goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FanOut {
    /// The event.
    pub event: EventId,
    /// The endpoints that are told of it; may be none.
    pub endpoints: Vec<EndpointId>,
}

/// Keeps events until they are fanned out.
///
/// A host with transactions of its own writes the event there, beside the change that caused it.
#[async_trait]
pub trait Outbox: Send + Sync + 'static {
    /// Adds an event. One whose id is there already is left as it is.
    async fn put(&self, event: &Event) -> Stored<()>;

    /// Up to `limit` events that were not fanned out yet, the oldest first; those of one moment as they were put.
    ///
    /// They are found by their own state and not by their place: what is committed late is found as well.
    async fn waiting(&self, limit: u32) -> Stored<Vec<Event>>;

    /// Queues a delivery to each endpoint that is there and enabled by then, all of it or nothing. An event that was
    /// fanned out already is left alone, so that twice is once. One that goes to nobody is not kept.
    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()>;
}
