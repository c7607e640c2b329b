//! A worker whose receivers and whose store are real, and whose time is not.

use forum_api::Environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forum_api::host::Authorizer;
use forum_api::runtime::{Clock as _, ManualClock, SeededRandom};
use forum_api::store::WebhookStores;
use forum_api::test_util::ManualRuntime;
use forum_api::webhook::HttpTransport;
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};
use tokio::task::unconstrained;

use super::asked::CountingAuthorizer;

/// A worker at rest sleeps in each of its loops.
const LOOPS: usize = 4;

/// A worker that goes on when it is told.
#[derive(Debug)]
pub struct ManualWorker {
    clock: Arc<ManualClock>,
    runtime: ManualRuntime,
    handle: WorkerHandle,
    /// How many questions the board has not answered.
    authorizations: Arc<AtomicUsize>,
}

impl ManualWorker {
    /// One that has done all that there is to do now. It wakes by itself only for what is due.
    pub async fn start(
        clock: &Arc<ManualClock>,
        stores: &WebhookStores,
        authority: Arc<dyn Authorizer>,
        transport: HttpTransport,
    ) -> Self {
        let runtime = ManualRuntime::new(clock.clone());
        let settings = WorkerSettings {
            poll_interval: Duration::from_secs(3600),
            ..WorkerSettings::default()
        };
        let (asked, open) = CountingAuthorizer::new(authority);
        let environment = Environment::new(runtime.clone())
            .clock(clock.clone())
            .random(Arc::new(SeededRandom::default()));
        let worker = Worker::new(stores.clone(), asked, transport, environment).settings(settings);
        let paced = Self {
            clock: clock.clone(),
            handle: worker.start(),
            runtime,
            authorizations: open,
        };
        paced.run_until_idle().await;
        paced
    }

    /// Tells it that there is something to do, and waits until it is done.
    pub async fn wake(&self) {
        self.handle.wake();
        self.run_until_idle().await;
    }

    /// Lets time pass, from whenever it wakes to whenever it rests.
    pub async fn advance(&self, duration: Duration) {
        let end = self.clock.now().saturating_add(duration);
        while self.runtime.advance_to_next_timer(end) {
            self.run_until_idle().await;
        }
    }

    /// Waits until nothing is left to be done now.
    async fn run_until_idle(&self) {
        // All of its tasks are one to tokio, which is not to be cut short.
        unconstrained(self.runtime.run_until(|| self.is_idle())).await;
    }

    /// A loop that waits for the board sleeps as well, for as long as the board may take.
    fn is_idle(&self) -> bool {
        let is_asked = self.authorizations.load(Ordering::SeqCst) > 0;
        !is_asked && self.handle.health().in_flight == 0 && self.runtime.pending_timers() == LOOPS
    }
}
