//! What the loops and the attempts of a worker share.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::Settings;
use super::poll_loop::Lane;
use super::slots::Slots;
use crate::environment::Environment;
use crate::host::{Authority, Fault, Stored};
use crate::metrics::recorder;
use crate::store::Webhooks;
use crate::task::{catch_panic, timeout};
use crate::webhook::{Backoff, Transport};

/// The waits before something is tried again that a store, or whatever answers for one, failed to do.
const PATIENCE: Backoff = Backoff {
    initial: Duration::from_millis(250),
    max: Duration::from_secs(30),
};

/// The stores of webhooks, as they are counted.
pub(super) const STORE: &str = "webhooks";

pub(super) struct Crew {
    pub(super) stores: Webhooks,
    pub(super) authority: Arc<dyn Authority>,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) environment: Environment,
    pub(super) settings: Settings,
    /// Fans events out.
    pub(super) events: Lane,
    /// Claims deliveries.
    pub(super) deliveries: Lane,
    /// Sweeps what is old away.
    pub(super) sweep: Lane,
    pub(super) slots: Slots,
    pub(super) stop: watch::Sender<bool>,
}

impl Crew {
    /// Runs a task to its end. `alive` is dropped with it, and so says whether anything still runs.
    pub(super) fn detach(
        &self,
        alive: &watch::Sender<()>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let alive = alive.clone();
        drop(self.environment.runtime.detach(Box::pin(async move {
            work.await;
            drop(alive);
        })));
    }

    /// Does what a host's code does in an attempt: a panic in it is a fault, and so is one step too long.
    pub(super) async fn step<T>(&self, work: impl Future<Output = Stored<T>>) -> Stored<T> {
        let ended = timeout(
            &*self.environment.runtime,
            self.settings.step,
            catch_panic(work),
        )
        .await;
        ended.unwrap_or_else(|| Err(Fault::new("there was no answer in time")))
    }

    /// Does what a store does, again while it fails and the step lasts; `None` when it failed to the end.
    pub(super) async fn patiently<T, F: Future<Output = Stored<T>>>(
        &self,
        work: impl Fn() -> F,
    ) -> Option<T> {
        let tries = async {
            for failed in 1.. {
                match catch_panic(work()).await {
                    Ok(done) => return Some(done),
                    Err(fault) => {
                        recorder::record_store_error(STORE);
                        tracing::warn!(%fault, failed, "a store failed, and is asked again");
                    }
                }
                self.environment.runtime.sleep(self.patience(failed)).await;
            }
            None
        };
        timeout(&*self.environment.runtime, self.settings.step, tries)
            .await
            .flatten()
    }

    /// How long to wait after the `failed`th failure in a row.
    pub(super) fn patience(&self, failed: u32) -> Duration {
        PATIENCE.wait(failed, self.random())
    }

    /// From 0 to 1, without 1. No wait depends on the source of randomness: without it they are not spread.
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
        for lane in [&self.events, &self.deliveries, &self.sweep] {
            lane.ring();
        }
    }

    /// Whether the worker is to end.
    pub(super) fn stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Sleeps for `duration`, or until the worker is to end.
    pub(super) async fn pause(&self, duration: Duration) {
        let mut stop = self.stop.subscribe();
        timeout(
            &*self.environment.runtime,
            duration,
            stop.wait_for(|stop| *stop),
        )
        .await;
    }
}
