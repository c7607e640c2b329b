//! A loop of the worker: one turn after the other, and sleep between them.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::yield_now;

use super::context::{Crew, STORE};
use crate::host::Stored;
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::task::{catch_panic, timeout};

/// A loop, as the others see it.
#[derive(Debug, Default)]
pub(super) struct Lane {
    bell: Notify,
    course: Mutex<Course>,
}

/// How a loop gets on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    /// When a turn last went well.
    pub(super) well_at: Option<Timestamp>,
    /// How many turns have failed since.
    pub(super) failed: u32,
}

impl Lane {
    /// Ends its sleep, now or before it begins.
    pub(super) fn ring(&self) {
        self.bell.notify_one();
    }

    /// How it gets on.
    pub(super) fn course(&self) -> Course {
        *self.lock()
    }

    /// Takes turns until the worker is to end. A turn tells how long to sleep unless the bell rings; after one that
    /// failed the bell is not heard, and the pause grows from failure to failure.
    pub(super) async fn run<F: Future<Output = Stored<Duration>>>(
        &self,
        crew: &Crew,
        turn: impl Fn() -> F,
    ) {
        while !crew.stopping() {
            match catch_panic(turn()).await {
                Ok(sleep) => {
                    self.went_well(crew.environment.clock.now());
                    self.sleep(crew, sleep).await;
                }
                Err(fault) => {
                    let failed = self.failed();
                    recorder::record_store_error(STORE);
                    tracing::error!(%fault, failed, "the webhook worker could not go on, and tries again");
                    crew.pause(crew.patience(failed)).await;
                }
            }
        }
    }

    /// No time at all lets the other tasks go first.
    async fn sleep(&self, crew: &Crew, duration: Duration) {
        if duration.is_zero() {
            yield_now().await;
        } else {
            timeout(&*crew.environment.runtime, duration, self.bell.notified()).await;
        }
    }

    fn went_well(&self, now: Timestamp) {
        *self.lock() = Course {
            well_at: Some(now),
            failed: 0,
        };
    }

    fn failed(&self) -> u32 {
        let mut course = self.lock();
        course.failed = course.failed.saturating_add(1);
        course.failed
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
