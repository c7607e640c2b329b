//! A loop of the worker: one turn after the other, and sleep between them.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::yield_now;

use super::context::WorkerContext;
use crate::error::BackendResult;
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::task::catch_panic;

#[derive(Debug, Default)]
pub(super) struct PollLoop {
    wakeup: Notify,
    health: Mutex<LoopHealth>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopHealth {
    pub(super) last_success_at: Option<Timestamp>,
    pub(super) consecutive_failures: u32,
}

impl PollLoop {
    /// Ends its sleep, now or before it begins.
    pub(super) fn notify(&self) {
        self.wakeup.notify_one();
    }

    pub(super) fn health(&self) -> LoopHealth {
        *self.lock()
    }

    /// Takes turns until the worker stops. A turn returns how long to sleep unless the loop is notified. After a failed
    /// turn a notification does not end the sleep, which grows from failure to failure.
    pub(super) async fn run<F: Future<Output = BackendResult<Duration>>>(
        &self,
        context: &WorkerContext,
        turn: impl Fn() -> F,
    ) {
        while !context.is_stopping() {
            match catch_panic(turn()).await {
                Ok(sleep) => {
                    *self.lock() = LoopHealth {
                        last_success_at: Some(context.now()),
                        consecutive_failures: 0,
                    };
                    self.sleep(context, sleep).await;
                }
                Err(fault) => {
                    let failed = self.count_failure();
                    recorder::record_store_error("webhooks");
                    tracing::error!(error = %fault, consecutive_failures = failed, "webhook worker iteration failed; retrying");
                    context.sleep(context.retry_delay(failed)).await;
                }
            }
        }
    }

    /// With no time to sleep, lets the other tasks run first.
    async fn sleep(&self, context: &WorkerContext, duration: Duration) {
        if duration.is_zero() {
            yield_now().await;
        } else {
            context.within(duration, self.wakeup.notified()).await;
        }
    }

    fn count_failure(&self) -> u32 {
        let mut health = self.lock();
        health.consecutive_failures = health.consecutive_failures.saturating_add(1);
        health.consecutive_failures
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, LoopHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
