//! Builder of a worker.

use std::sync::Arc;

use tokio::sync::watch;

use super::context::WorkerContext;
use super::poll_loop::PollLoop;
use super::slots::Slots;
use super::{WorkerHandle, WorkerSettings, dispatch, fan_out, maintenance};
use crate::environment::Environment;
use crate::host::Authorizer;
use crate::store::WebhookStores;
use crate::webhook::Transport;

/// Worker that delivers webhooks. [`start`](Self::start) starts it.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use forum_api::webhook::Transport;
/// # use forum_api::{runtime::TokioRuntime, host::Authorizer, store::WebhookStores, worker::Worker};
/// # async fn run(stores: WebhookStores, authorizer: Arc<dyn Authorizer>, transport: impl Transport) {
/// let worker = Worker::new(stores, authorizer, transport, TokioRuntime).start();
/// worker.wake(); // after each commit that wrote an event
/// worker.stop().await; // before the process ends
/// # }
/// ```
pub struct Worker(WorkerContext);

impl Worker {
    /// Creates a worker that reads `stores`, checks the owners of endpoints with `authorizer` and sends with `transport`.
    ///
    /// `environment` may be the [`Runtime`](crate::runtime::Runtime) on which the worker runs. A worker on
    /// [`InlineRuntime`](crate::runtime::InlineRuntime), which does not run tasks in the background, sends nothing.
    pub fn new(
        stores: WebhookStores,
        authorizer: Arc<dyn Authorizer>,
        transport: impl Transport,
        environment: impl Into<Environment>,
    ) -> Self {
        Self(WorkerContext {
            stores,
            authorizer,
            transport: Arc::new(transport),
            environment: environment.into(),
            settings: WorkerSettings::default(),
            events: PollLoop::default(),
            deliveries: PollLoop::default(),
            sweep: PollLoop::default(),
            slots: Slots::default(),
            stop: watch::Sender::default(),
            tasks: watch::Sender::default(),
        })
    }

    /// Sets the settings. Default: [`WorkerSettings::default`].
    #[must_use]
    pub fn settings(mut self, settings: WorkerSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Starts the worker on the runtime. It runs until [`WorkerHandle::stop`].
    pub fn start(self) -> WorkerHandle {
        let context = Arc::new(self.0);
        fan_out::start(&context);
        dispatch::start(&context);
        maintenance::start(&context);
        WorkerHandle::new(context)
    }
}

settings_debug!(Worker);
