//! A worker with a real store and real receivers in manually advanced time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forum_api::Environment;
use forum_api::host::Authorizer;
use forum_api::runtime::{Clock as _, ManualClock, SeededRandom};
use forum_api::store::WebhookStores;
use forum_api::test_util::{ManualRuntime, StoreInterceptor};
use forum_api::webhook::HttpTransport;
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};
use tokio::task::unconstrained;

use super::authorizer::CountingAuthorizer;

/// Number of timers of an idle worker: one for each of its loops.
const LOOPS: usize = 4;

#[derive(Debug)]
pub struct ManualWorker {
    clock: Arc<ManualClock>,
    runtime: ManualRuntime,
    stores: StoreInterceptor,
    handle: WorkerHandle,
    /// Number of authorizations in progress.
    authorizations: Arc<AtomicUsize>,
}

impl ManualWorker {
    /// Starts a worker and waits until it is idle. Without a wake it runs only for due deliveries.
    pub async fn start(
        clock: &Arc<ManualClock>,
        stores: &WebhookStores,
        authorizer: Arc<dyn Authorizer>,
        transport: HttpTransport,
    ) -> Self {
        let runtime = ManualRuntime::new(clock.clone());
        let authorizations = Arc::new(AtomicUsize::new(0));
        let authorizer = Arc::new(CountingAuthorizer {
            inner: authorizer,
            in_progress: authorizations.clone(),
        });
        let environment = Environment::new(runtime.clone())
            .clock(clock.clone())
            .random(Arc::new(SeededRandom::default()));
        let interceptor = StoreInterceptor::default();
        let stores = interceptor.webhooks(stores);
        let mut settings = WorkerSettings::default();
        settings.poll_interval = Duration::from_secs(3600);
        let worker = Worker::builder(stores, authorizer, transport, environment).settings(settings);
        let worker = Self {
            clock: clock.clone(),
            handle: worker.build().unwrap().start(),
            runtime,
            stores: interceptor,
            authorizations,
        };
        worker.run_until_idle().await;
        worker
    }

    /// Wakes the worker and waits until it is idle.
    pub async fn wake(&self) {
        self.handle.wake();
        self.run_until_idle().await;
    }

    /// Advances the time from timer to timer, and waits at each until the worker is idle.
    pub async fn advance(&self, duration: Duration) {
        let end = self.clock.now().saturating_add(duration);
        while self.runtime.advance_to_next_timer(end) {
            self.run_until_idle().await;
        }
    }

    async fn run_until_idle(&self) {
        // All tasks of the worker are one task to tokio, whose budget must not interrupt them.
        unconstrained(self.runtime.run_until(|| self.is_idle())).await;
    }

    /// A loop that waits for an authorization or for a store has a timer as well, for its timeout.
    fn is_idle(&self) -> bool {
        let authorizations = self.authorizations.load(Ordering::SeqCst);
        authorizations == 0
            && self.stores.calls_in_progress() == 0
            && self.handle.health().in_flight == 0
            && self.runtime.pending_timers() == LOOPS
    }
}
