//! What the host holds of a worker that was started.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use super::context::Crew;
use crate::model::Timestamp;

/// A worker at work. It is cheap to clone, and the worker goes on when all handles are dropped.
#[derive(Clone)]
pub struct WorkerHandle {
    crew: Arc<Crew>,
    /// Closed when nothing of the worker runs any more.
    alive: watch::Receiver<()>,
}

/// How a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// How many attempts are under way.
    pub under_way: u32,
    /// When it last found out what there is to do, of events and of deliveries; `None` when it never did. One that is
    /// well does so at least once a [`poll`](super::Settings::poll): this is old when the store fails or does not
    /// answer.
    pub looked_at: Option<Timestamp>,
    /// How often in a row it has failed to.
    pub failures: u32,
    /// Whether it has ended.
    pub stopped: bool,
}

impl WorkerHandle {
    pub(super) fn new(crew: Arc<Crew>, alive: watch::Receiver<()>) -> Self {
        Self { crew, alive }
    }

    /// Makes the worker look for events and deliveries at once: to be called after a commit that wrote some. It
    /// costs next to nothing, and many calls in a row are one.
    pub fn wake(&self) {
        self.crew.events.ring();
        self.crew.deliveries.ring();
    }

    /// Ends the worker in order: it takes nothing more, gives back uncounted what it has claimed and not sent, and is
    /// ready when what was under way has ended and is noted: while the store answers, at most three
    /// [steps](super::Settings::step) later.
    pub async fn stop(&self) {
        self.crew.stop();
        let mut alive = self.alive.clone();
        while alive.changed().await.is_ok() {}
    }

    /// How the worker is.
    pub fn health(&self) -> Health {
        let (events, deliveries) = (self.crew.events.course(), self.crew.deliveries.course());
        Health {
            under_way: self.crew.slots.count(),
            looked_at: events.well_at.min(deliveries.well_at),
            failures: events.failed.max(deliveries.failed),
            stopped: self.alive.has_changed().is_err(),
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
