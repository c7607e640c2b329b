//! The handle of a worker that was started, and its health.

use std::fmt;
use std::sync::Arc;

use super::context::WorkerContext;
use crate::model::Timestamp;

/// A worker at work. It is cheap to clone, and the worker goes on when all handles are dropped.
#[derive(Clone)]
pub struct WorkerHandle(Arc<WorkerContext>);

/// The health of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerHealth {
    /// How many attempts are in progress.
    pub in_flight: u32,
    /// When both loops, of events and of deliveries, had last read the store; `None` before the first time. A healthy
    /// worker reads it at least once a [`poll`](super::Settings::poll): an old time means that the store fails or does not
    /// answer.
    pub last_poll_at: Option<Timestamp>,
    /// How often in a row it has failed to.
    pub consecutive_failures: u32,
    /// Whether it has ended.
    pub stopped: bool,
}

impl WorkerHandle {
    pub(super) const fn new(context: Arc<WorkerContext>) -> Self {
        Self(context)
    }

    /// Makes the worker look for events and deliveries at once: to be called after a commit that wrote some. It
    /// costs next to nothing, and many calls in a row are one.
    pub fn wake(&self) {
        self.0.events.notify();
        self.0.deliveries.notify();
    }

    /// Ends the worker in order: it claims nothing more, returns uncounted what it has claimed and not sent, and is
    /// ready when the attempts in progress have ended and are recorded: while the store answers, at most three
    /// [steps](super::Settings::step) later.
    pub async fn stop(&self) {
        self.0.stop();
        let mut tasks = self.0.tasks.subscribe();
        drop(tasks.wait_for(|tasks| *tasks == 0).await);
    }

    /// The health of the worker.
    pub fn health(&self) -> WorkerHealth {
        let (events, deliveries) = (self.0.events.health(), self.0.deliveries.health());
        WorkerHealth {
            in_flight: self.0.slots.count(),
            last_poll_at: events.last_success_at.min(deliveries.last_success_at),
            consecutive_failures: events
                .consecutive_failures
                .max(deliveries.consecutive_failures),
            stopped: *self.0.tasks.borrow() == 0,
        }
    }
}

impl fmt::Debug for WorkerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerHandle")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
