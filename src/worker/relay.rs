//! The loop that moves events from the board's own database to the outbox.

use std::sync::Arc;
use std::time::Duration;

use super::context::{IterationError, WorkerContext};
use crate::store::{PendingEventStore, relay_events};

/// Largest number of events that are copied before they are removed from the board's database. The copies and the
/// removal together take at most `step_timeout`.
const BATCH: u32 = 25;

/// Starts the loop if the worker has a store of pending events.
pub(super) fn start(context: &Arc<WorkerContext>) {
    let Some(events) = context.pending_events.clone() else {
        return;
    };
    context.spawn(|context| async move {
        let run = || iteration(&context, &*events);
        context.run_loop(&context.relay, run).await;
    });
}

async fn iteration(
    context: &WorkerContext,
    events: &dyn PendingEventStore,
) -> Result<Duration, IterationError> {
    let relay = relay_events(events, &*context.stores.outbox, BATCH);
    let relayed = context.with_step_timeout(relay).await;
    // A relay that fails can have copied some events.
    if !matches!(&relayed, Ok(relayed) if relayed.copied == 0) {
        context.events.notify();
    }
    let relayed = relayed?;
    let is_full = relayed.read == BATCH as usize;
    let sleep = if is_full { Duration::ZERO } else { context.settings.poll_interval };
    match relayed.rejection {
        None => Ok(sleep),
        // Rejected events do not delay the others.
        Some(error) => Err(IterationError::Rejected(error, (relayed.copied > 0).then_some(sleep))),
    }
}
