//! A worker and its builder.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::context::WorkerContext;
use super::poll_loop::PollLoop;
use super::slots::Slots;
use super::{WorkerHandle, WorkerSettings, dispatch, fan_out, maintenance};
use crate::build_error::BuildError;
use crate::environment::Environment;
use crate::host::Authorizer;
use crate::store::WebhookStores;
use crate::webhook::{Backoff, Transport};

/// Worker that delivers webhooks. [`builder`](Self::builder) builds it, [`start`](Self::start) starts it.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use forum_api::webhook::Transport;
/// # use forum_api::{BuildError, runtime::TokioRuntime, host::Authorizer, store::WebhookStores, worker::Worker};
/// # async fn run(
/// #     stores: WebhookStores,
/// #     authorizer: Arc<dyn Authorizer>,
/// #     transport: impl Transport,
/// # ) -> Result<(), BuildError> {
/// let worker = Worker::builder(stores, authorizer, transport, TokioRuntime).build()?.start();
/// worker.wake(); // after each commit that wrote an event
/// worker.stop().await; // before the process ends
/// # Ok(())
/// # }
/// ```
#[must_use = "the worker does nothing until `start` is called"]
pub struct Worker(WorkerContext);

/// Builder of a [`Worker`]. Required parts are arguments of [`Worker::builder`]; everything else has a default.
#[must_use = "the builder does nothing until `build` is called"]
pub struct WorkerBuilder(WorkerContext);

impl Worker {
    /// Creates a builder of a worker that reads `stores`, checks the owners of endpoints with `authorizer` and sends with
    /// `transport`.
    ///
    /// `environment` may be the [`Runtime`](crate::runtime::Runtime) on which the worker runs.
    pub fn builder(
        stores: WebhookStores,
        authorizer: Arc<dyn Authorizer>,
        transport: impl Transport,
        environment: impl Into<Environment>,
    ) -> WorkerBuilder {
        WorkerBuilder(WorkerContext {
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

    /// Starts the worker on the runtime. It runs until [`WorkerHandle::stop`].
    pub fn start(self) -> WorkerHandle {
        let context = Arc::new(self.0);
        fan_out::start(&context);
        dispatch::start(&context);
        maintenance::start(&context);
        WorkerHandle::new(context)
    }
}

impl WorkerBuilder {
    /// Replaces all settings, including those that were set before. Default: [`WorkerSettings::default`].
    pub fn settings(mut self, settings: WorkerSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Sets [`WorkerSettings::backoff`]. Default: 30 s, doubled for each failure, at most one hour.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.0.settings.backoff = backoff;
        self
    }

    /// Sets [`WorkerSettings::max_in_flight`]. Default: 256.
    pub fn max_in_flight(mut self, max_in_flight: u32) -> Self {
        self.0.settings.max_in_flight = max_in_flight;
        self
    }

    /// Sets [`WorkerSettings::max_in_flight_per_endpoint`]. Default: 4.
    pub fn max_in_flight_per_endpoint(mut self, max_in_flight_per_endpoint: u32) -> Self {
        self.0.settings.max_in_flight_per_endpoint = max_in_flight_per_endpoint;
        self
    }

    /// Sets [`WorkerSettings::poll_interval`]. Default: 1 s.
    pub fn poll_interval(mut self, poll_interval: Duration) -> Self {
        self.0.settings.poll_interval = poll_interval;
        self
    }

    /// Sets [`WorkerSettings::step_timeout`]. Default: 15 s.
    pub fn step_timeout(mut self, step_timeout: Duration) -> Self {
        self.0.settings.step_timeout = step_timeout;
        self
    }

    /// Sets [`WorkerSettings::retention`]. Default: 7 days.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.0.settings.retention = retention;
        self
    }

    /// Sets [`WorkerSettings::dead_retention`]. Default: `None`.
    pub fn dead_retention(mut self, dead_retention: Option<Duration>) -> Self {
        self.0.settings.dead_retention = dead_retention;
        self
    }

    /// Sets [`WorkerSettings::disable_after`]. Default: 5 days.
    pub fn disable_after(mut self, disable_after: Option<Duration>) -> Self {
        self.0.settings.disable_after = disable_after;
        self
    }

    /// Sets [`WorkerSettings::sweep_interval`]. Default: 1 hour.
    pub fn sweep_interval(mut self, sweep_interval: Duration) -> Self {
        self.0.settings.sweep_interval = sweep_interval;
        self
    }

    /// Builds the worker.
    ///
    /// # Errors
    /// [`BuildError`] if a setting is invalid.
    pub fn build(self) -> Result<Worker, BuildError> {
        self.0.settings.validate()?;
        Ok(Worker(self.0))
    }
}

settings_debug!(Worker, 0.settings);
settings_debug!(WorkerBuilder, 0.settings);
