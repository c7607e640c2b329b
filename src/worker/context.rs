//! What the loops and the attempts of a worker share.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::WorkerSettings;
use super::poll_loop::PollLoop;
use super::slots::Slots;
use crate::environment::Environment;
use crate::error::{BackendError, BackendResult};
use crate::host::Authorizer;
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::store::WebhookStores;
use crate::task::{catch_panic, timeout};
use crate::webhook::{Backoff, Transport};

/// The waits before a store that failed is called again.
const RETRY: Backoff = Backoff {
    initial: Duration::from_millis(250),
    max: Duration::from_secs(30),
};

pub(super) struct WorkerContext {
    pub(super) stores: WebhookStores,
    pub(super) authority: Arc<dyn Authorizer>,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) environment: Environment,
    pub(super) settings: WorkerSettings,
    /// Fans events out.
    pub(super) events: PollLoop,
    /// Claims deliveries.
    pub(super) deliveries: PollLoop,
    /// Removes old deliveries.
    pub(super) sweep: PollLoop,
    pub(super) slots: Slots,
    pub(super) stop: watch::Sender<bool>,
    /// The number of tasks that run.
    pub(super) tasks: watch::Sender<usize>,
}

/// Counts a task until it is dropped.
struct TaskGuard(Arc<WorkerContext>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.tasks.send_modify(|tasks| *tasks -= 1);
    }
}

impl WorkerContext {
    pub(super) fn now(&self) -> Timestamp {
        self.environment.clock.now()
    }

    /// Runs `work`; `None` when it is not ready after `limit`.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        timeout(&*self.environment.runtime, limit, work).await
    }

    /// Runs a task to completion.
    pub(super) fn spawn<F>(self: &Arc<Self>, work: impl FnOnce(Arc<Self>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tasks.send_modify(|tasks| *tasks += 1);
        let guard = TaskGuard(Arc::clone(self));
        let work = work(Arc::clone(self));
        drop(self.environment.runtime.spawn(Box::pin(async move {
            let _guard = guard;
            work.await;
        })));
    }

    /// Calls code of the host or a store: a panic in it is a fault, and so is one step too long.
    pub(super) async fn with_step_timeout<T>(
        &self,
        work: impl Future<Output = BackendResult<T>>,
    ) -> BackendResult<T> {
        let ended = self
            .within(self.settings.step_timeout, catch_panic(work))
            .await;
        ended.unwrap_or_else(|| Err(BackendError::new("the operation timed out")))
    }

    /// Calls a store again while it fails and the step lasts; `None` when no call succeeded.
    pub(super) async fn retry_with_backoff<T, F: Future<Output = BackendResult<T>>>(
        &self,
        work: impl Fn() -> F,
    ) -> Option<T> {
        let tries = async {
            for failed in 1.. {
                match catch_panic(work()).await {
                    Ok(done) => return Some(done),
                    Err(fault) => self.store_failed(&fault, failed),
                }
                self.environment
                    .runtime
                    .sleep(self.retry_delay(failed))
                    .await;
            }
            None
        };
        let ended = self.within(self.settings.step_timeout, tries).await;
        ended.flatten()
    }

    /// Counts and logs a failed call of a store that is repeated.
    pub(super) fn store_failed(&self, fault: &BackendError, failed: u32) {
        recorder::record_store_error("webhooks");
        tracing::warn!(error = %fault, consecutive_failures = failed, "store operation failed; retrying");
    }

    /// The wait after the `failed`th failure in a row.
    pub(super) fn retry_delay(&self, failed: u32) -> Duration {
        RETRY.delay(failed, self.random())
    }

    /// From 0 to 1, without 1; 0 when the source of randomness fails, so that waits are not spread.
    pub(super) fn random(&self) -> f64 {
        let mut bytes = [0; 4];
        let filled = self.environment.random.fill(&mut bytes);
        filled.map_or(0.0, |()| {
            f64::from(u32::from_be_bytes(bytes)) / 2f64.powi(32)
        })
    }

    /// Makes all loops end.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
        for poll_loop in [&self.events, &self.deliveries, &self.sweep] {
            poll_loop.notify();
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Sleeps for `duration`, or until the worker stops.
    pub(super) async fn sleep(&self, duration: Duration) {
        let mut stop = self.stop.subscribe();
        self.within(duration, stop.wait_for(|stop| *stop)).await;
    }
}
