//! Events in the board's own database, and their relay to the outbox.

use async_trait::async_trait;
#[cfg(any(feature = "conformance", feature = "webhooks"))]
use thiserror::Error;

#[cfg(any(feature = "conformance", feature = "webhooks"))]
use super::OutboxStore;
#[cfg(any(feature = "conformance", feature = "webhooks"))]
use crate::error::BackendError;
use crate::error::BackendResult;
use crate::model::EventId;
use crate::webhook::Event;

/// Events that a board stores in its own database until the worker copies them to the [outbox](crate::guide::outbox).
///
/// A board implements this trait if its transactions cannot write to the table of the outbox
/// ([example](crate::guide::without_sql)). Each command stores its events in the transaction of the change.
/// [`WorkerBuilder::pending_events`](crate::worker::WorkerBuilder::pending_events) then runs the relay: it reads pending
/// events, copies each of them with its id to the outbox, and removes them here.
///
/// A process that stops between these steps repeats them, and several workers may run them at the same time. The outbox
/// contains an event once, and the id of a delivery is derived from the ids of the event and the endpoint. An event is
/// therefore neither lost nor delivered under two ids.
#[async_trait]
pub trait PendingEventStore: Send + Sync + 'static {
    /// Returns up to `limit` events in the order in which they were inserted.
    ///
    /// The store must find an event whose transaction commits late, after later events were removed. It omits and logs
    /// an event that it cannot decode: an error delays all other events.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The worker repeats the call later.
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>>;

    /// Removes the events with these ids. Ignores ids that are not stored.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The worker then copies the events again, which
    /// has no effect, and repeats the call.
    async fn remove(&self, ids: &[EventId]) -> BackendResult<()>;
}

impl_for_pointers!(PendingEventStore {
    async fn pending(limit: u32) -> BackendResult<Vec<Event>>;
    async fn remove(ids: &[EventId]) -> BackendResult<()>;
});

#[derive(Debug, Error)]
#[error("the event {id} was not copied to the outbox")]
#[cfg(any(feature = "conformance", feature = "webhooks"))]
struct CopyError {
    id: EventId,
    source: BackendError,
}

/// Result of a relay.
#[cfg(any(feature = "conformance", feature = "webhooks"))]
pub(crate) struct RelayedEvents {
    /// Number of pending events that were read.
    #[cfg(feature = "webhooks")]
    pub(crate) read: usize,
    /// Number of events that were copied and removed.
    pub(crate) copied: usize,
    /// The first error of a copy.
    pub(crate) rejection: Option<BackendError>,
}

/// Moves up to `limit` pending events to the outbox.
///
/// An event that the outbox rejects stays in the board's store. It does not delay the others, as long as fewer than `limit`
/// such events exist.
///
/// # Errors
/// [`BackendError`] if reading or removing fails.
#[cfg(any(feature = "conformance", feature = "webhooks"))]
pub(crate) async fn relay_events(
    events: &dyn PendingEventStore,
    outbox: &dyn OutboxStore,
    limit: u32,
) -> BackendResult<RelayedEvents> {
    let mut copied = Vec::new();
    let mut failure = None;
    let pending = events.pending(limit).await?;
    #[cfg(feature = "webhooks")]
    let read = pending.len();
    for event in pending {
        match outbox.insert(&event).await {
            Ok(()) => copied.push(event.id),
            Err(error) => {
                failure.get_or_insert((event.id, error));
            }
        }
    }
    if !copied.is_empty() {
        events.remove(&copied).await?;
    }
    Ok(RelayedEvents {
        #[cfg(feature = "webhooks")]
        read,
        copied: copied.len(),
        rejection: failure.map(|(id, source)| BackendError::new(CopyError { id, source })),
    })
}
