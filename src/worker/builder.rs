//! A worker before it is started.

use std::sync::Arc;

use tokio::sync::watch;

use super::context::Crew;
use super::{Settings, WorkerHandle, dispatch, fan_out, poll_loop, slots, sweep};
use crate::environment::Environment;
use crate::host::Authority;
use crate::store::Webhooks;
use crate::webhook::Transport;

/// Sends webhooks, once it is [started](Self::start).
///
/// ```no_run
/// # use std::sync::Arc;
/// # use forum_api::webhook::Transport;
/// # use forum_api::{runtime::TokioRuntime, host::Authority, store::Webhooks, worker::Worker};
/// # async fn run(stores: Webhooks, authority: Arc<dyn Authority>, transport: impl Transport) {
/// let worker = Worker::new(stores, authority, transport, TokioRuntime).start();
/// worker.wake(); // after each commit that wrote an event
/// worker.stop().await; // before the process ends
/// # }
/// ```
pub struct Worker(Crew);

impl Worker {
    /// A worker over these stores, which asks `authority` who may be told and sends through `transport`.
    ///
    /// `environment` may be the [`Runtime`](crate::runtime::Runtime) on which its loops and attempts run. With
    /// [`Inline`](crate::runtime::Inline), which starts no tasks, nothing is ever sent.
    pub fn new(
        stores: Webhooks,
        authority: Arc<dyn Authority>,
        transport: impl Transport,
        environment: impl Into<Environment>,
    ) -> Self {
        Self(Crew {
            stores,
            authority,
            transport: Arc::new(transport),
            environment: environment.into(),
            settings: Settings::default(),
            events: poll_loop::Lane::default(),
            deliveries: poll_loop::Lane::default(),
            sweep: poll_loop::Lane::default(),
            slots: slots::Slots::default(),
            stop: watch::Sender::default(),
        })
    }

    /// Takes these settings. Default: [`Settings::default`].
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Begins to work, on the runtime, until the handle's [`stop`](WorkerHandle::stop).
    pub fn start(self) -> WorkerHandle {
        let crew = Arc::new(self.0);
        let (alive, ended) = watch::channel(());
        fan_out::start(&crew, &alive);
        dispatch::start(&crew, &alive);
        sweep::start(&crew, &alive);
        #[cfg(feature = "metrics")]
        super::queue_metrics::start(&crew, &alive);
        WorkerHandle::new(crew, ended)
    }
}

settings_debug!(Worker);
