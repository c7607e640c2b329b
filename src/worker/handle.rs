//! Handle and health of a running worker.

use std::sync::Arc;

use super::context::WorkerContext;
use super::poll_loop::PollLoop;
use crate::model::Timestamp;

/// Handle of a running worker. Cloning is cheap; dropping all handles does not stop the worker.
#[derive(Clone)]
pub struct WorkerHandle(Arc<WorkerContext>);

/// The health of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHealth {
    /// Number of attempts in progress.
    pub in_flight: u32,
    /// Time of the last successful iteration of the loop that fans out events, of the loop that claims deliveries, or
    /// of the loop that copies pending events, whichever is earliest; `None` until each of them has completed an
    /// iteration. While the worker runs, a time that is older than a few
    /// [`poll_interval`](super::WorkerSettings::poll_interval)s means that the store fails or does not respond, that
    /// the outbox rejects all pending events, or that the authorizer does not respond.
    pub last_poll_at: Option<Timestamp>,
    /// Largest number of consecutive failed iterations of one of these loops.
    pub consecutive_failures: u32,
    /// `true` after the worker has stopped.
    pub stopped: bool,
}

impl WorkerHandle {
    pub(super) const fn new(context: Arc<WorkerContext>) -> Self {
        Self(context)
    }

    /// Makes the worker read new events and deliveries at once, or after the pause that follows an error. Call it after
    /// a commit that wrote events. It is cheap, and consecutive calls are coalesced.
    pub fn wake(&self) {
        self.0.relay.notify();
        self.0.events.notify();
        self.0.deliveries.notify();
    }

    /// Stops the worker: it claims no more deliveries, releases the claimed deliveries that it has not begun to send,
    /// and completes and records the attempts in progress. While the store responds, this takes at most three times
    /// [`step_timeout`](super::WorkerSettings::step_timeout).
    pub async fn stop(&self) {
        self.0.stop();
        let mut tasks = self.0.tasks.subscribe();
        drop(tasks.wait_for(|tasks| *tasks == 0).await);
    }

    /// Returns the health of the worker.
    pub fn health(&self) -> WorkerHealth {
        let relay = self.0.pending_events.as_ref().map(|_| &self.0.relay);
        let loops =
            [&self.0.events, &self.0.deliveries].into_iter().chain(relay).map(PollLoop::health);
        let (last_polls, failures): (Vec<_>, Vec<_>) =
            loops.map(|health| (health.last_success_at, health.consecutive_failures)).unzip();
        WorkerHealth {
            in_flight: self.0.slots.count(),
            last_poll_at: last_polls.into_iter().min().flatten(),
            consecutive_failures: failures.into_iter().max().unwrap_or_default(),
            stopped: *self.0.tasks.borrow() == 0,
        }
    }
}

debug_fields!(WorkerHandle, |it| health: it.health());
