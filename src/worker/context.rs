//! State and helpers that the loops and attempts of a worker share.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::yield_now;

use super::poll_loop::PollLoop;
use super::settings::WorkerSettings;
use super::slots::Slots;
use crate::environment::Environment;
use crate::error::{BackendError, BackendResult};
use crate::error_chain::ErrorChain;
use crate::host::{Access, Authorizer, RequestInfo};
use crate::metrics::recorder;
use crate::model::{Timestamp, UserId};
use crate::store::{PendingEventStore, WebhookStores};
use crate::task::{catch_panic, timeout};
use crate::webhook::{Backoff, Transport};

/// Label of the stores of webhooks in the metrics.
pub(super) const STORE: &str = "webhooks";

/// Delays before a store that failed is called again.
const STORE_BACKOFF: Backoff =
    Backoff { initial: Duration::from_millis(250), max: Duration::from_secs(30) };

pub(super) struct WorkerContext {
    pub(super) stores: WebhookStores,
    /// Events in the board's own database; `None` if the board writes to the outbox.
    pub(super) pending_events: Option<Arc<dyn PendingEventStore>>,
    pub(super) authorizer: Arc<dyn Authorizer>,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) environment: Environment,
    pub(super) settings: WorkerSettings,
    /// Copies pending events to the outbox.
    pub(super) relay: PollLoop,
    /// Fans out events.
    pub(super) events: PollLoop,
    /// Claims deliveries.
    pub(super) deliveries: PollLoop,
    /// Removes old deliveries.
    pub(super) sweep: PollLoop,
    /// Corrects the times that a clock that was ahead wrote.
    pub(super) correction: PollLoop,
    pub(super) slots: Slots,
    pub(super) stop: watch::Sender<bool>,
    /// Number of running tasks.
    pub(super) tasks: watch::Sender<usize>,
}

/// Failure of an iteration of a loop.
pub(super) enum IterationError {
    /// The iteration did nothing. The sleep after it grows with each consecutive failure, and a notification does not end it.
    Failed(BackendError),
    /// The iteration left out items that the store rejects. A notification ends the sleep after it. If the iteration processed
    /// other items, the sleep is the given one; otherwise it grows with each consecutive failure.
    Rejected(BackendError, Option<Duration>),
}

impl From<BackendError> for IterationError {
    fn from(error: BackendError) -> Self {
        Self::Failed(error)
    }
}

fn log_failure(poll_loop: &PollLoop, error: &BackendError, failures: u32) {
    tracing::error!(poll_loop = poll_loop.name, error = %ErrorChain(error), consecutive_failures = failures, "webhook worker iteration failed; retrying");
}

/// Decrements the number of running tasks on drop.
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

    /// Runs `work`; `None` on timeout.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        timeout(&*self.environment.runtime, limit, work).await
    }

    /// Spawns a task for which [`WorkerHandle::stop`](super::WorkerHandle::stop) waits.
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

    /// Calls code of the host or a store. Returns an error if the call panics or takes longer than `step_timeout`.
    pub(super) async fn with_step_timeout<T>(
        &self,
        work: impl Future<Output = BackendResult<T>>,
    ) -> BackendResult<T> {
        let limit = self.settings.step_timeout;
        let result = self.within(limit, catch_panic(work)).await;
        result.unwrap_or_else(|| Err(BackendError::new("the operation timed out")))
    }

    /// Loads the access of several owners with one call; `None` if there are fewer than two, if the authorizer does not
    /// support this, or if the call fails.
    pub(super) async fn load_access(&self, owners: &[UserId]) -> Option<HashMap<UserId, Access>> {
        if owners.len() < 2 {
            return None;
        }
        let request = RequestInfo::background(self.now());
        let loading = self.authorizer.access_of_members(owners, &request);
        let access = self.with_step_timeout(loading).await;
        access.unwrap_or_else(|error| {
            tracing::warn!(error = %ErrorChain(&error), "failed to load endpoint owners' access together");
            None
        })
    }

    /// Repeats a call of a store until it succeeds; `None` if it did not succeed within `step_timeout`.
    pub(super) async fn retry_with_backoff<T, F: Future<Output = BackendResult<T>>>(
        &self,
        work: impl Fn() -> F,
    ) -> Option<T> {
        let attempts = async {
            for failures in 1.. {
                match catch_panic(work()).await {
                    Ok(value) => return Some(value),
                    Err(error) => self.record_store_failure(&error, failures),
                }
                let delay = self.retry_delay(failures);
                self.environment.runtime.sleep(delay).await;
            }
            None
        };
        let result = self.within(self.settings.step_timeout, attempts).await;
        result.flatten()
    }

    /// Counts and logs a failed call of a store that is repeated.
    pub(super) fn record_store_failure(&self, error: &BackendError, failures: u32) {
        recorder::record_store_error(STORE);
        tracing::warn!(error = %ErrorChain(error), consecutive_failures = failures, "store operation failed; retrying");
    }

    fn retry_delay(&self, failures: u32) -> Duration {
        STORE_BACKOFF.delay(failures, self.random())
    }

    /// Returns a number in [0, 1) for jitter; 0 if the random source fails.
    pub(super) fn random(&self) -> f64 {
        let mut bytes = [0; 4];
        let filled = self.environment.random.fill(&mut bytes);
        filled.map_or(0.0, |()| f64::from(u32::from_be_bytes(bytes)) / 2f64.powi(32))
    }

    /// Runs the iterations of a loop until the worker stops. An iteration returns the maximum sleep before the next
    /// iteration. A notification ends this sleep early. [`IterationError`] describes the sleep after an error.
    pub(super) async fn run_loop<E, F>(&self, poll_loop: &PollLoop, iteration: impl Fn() -> F)
    where
        E: From<BackendError> + Into<IterationError>,
        F: Future<Output = Result<Duration, E>>,
    {
        // Notifications can repeat an iteration with rejected items at any rate.
        let mut silent_until = Timestamp::default();
        while !self.is_stopping() {
            match catch_panic(iteration()).await {
                Ok(sleep) => {
                    poll_loop.record_success(self.now());
                    silent_until = Timestamp::default();
                    self.rest(poll_loop, sleep).await;
                }
                Err(error) => {
                    let failures = poll_loop.record_failure();
                    recorder::record_store_error(STORE);
                    let delay = self.retry_delay(failures);
                    match error.into() {
                        IterationError::Failed(error) => {
                            log_failure(poll_loop, &error, failures);
                            self.sleep(delay).await;
                        }
                        IterationError::Rejected(error, sleep) => {
                            let now = self.now();
                            let silence = silent_until.saturating_duration_since(now);
                            // The clock can be set back.
                            if silence.is_zero() || silence > STORE_BACKOFF.max {
                                log_failure(poll_loop, &error, failures);
                                silent_until = now.saturating_add(delay);
                            }
                            if sleep.is_some() {
                                poll_loop.record_progress(now);
                            }
                            self.rest(poll_loop, sleep.unwrap_or(delay)).await;
                        }
                    }
                }
            }
        }
    }

    /// Sleeps for `duration`, or until a notification of the loop.
    async fn rest(&self, poll_loop: &PollLoop, duration: Duration) {
        if duration.is_zero() {
            yield_now().await;
        } else {
            self.within(duration, poll_loop.wakeup.notified()).await;
        }
    }

    /// Ends all loops.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
        for poll_loop in
            [&self.relay, &self.events, &self.deliveries, &self.sweep, &self.correction]
        {
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
