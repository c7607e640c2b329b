//! A worker before it is started, and its settings.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::context::WorkerContext;
use super::poll_loop::PollLoop;
use super::slots::Slots;
use super::{WorkerHandle, dispatch, fan_out, maintenance};
use crate::environment::Environment;
use crate::host::Authorizer;
use crate::store::WebhookStores;
use crate::webhook::{Backoff, Transport};

/// The settings of a worker. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The waits between the attempts of a delivery. Default: 30 s, doubling, never more than one hour.
    pub backoff: Backoff,
    /// How many attempts are in progress at once. Default: 256.
    pub max_in_flight: u32,
    /// How many of them go to one endpoint. Default: 4.
    pub max_in_flight_per_endpoint: u32,
    /// How long to sleep at most before looking for what other processes have written. Default: 1 s.
    pub poll_interval: Duration,
    /// Time limit of a step of an attempt: the check of the owner, decrypting the secret, recording that sending begins,
    /// sending, recording the end. Default: 15 s. A transport's own limit has to be shorter.
    pub step_timeout: Duration,
    /// How long deliveries are kept that were delivered, gone or withheld. Default: 7 days.
    pub retention: Duration,
    /// The time between two sweeps of what is not kept. Default: 1 hour.
    pub sweep_interval: Duration,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            max_in_flight: 256,
            max_in_flight_per_endpoint: 4,
            poll_interval: Duration::from_secs(1),
            step_timeout: Duration::from_secs(15),
            retention: Duration::from_secs(7 * 24 * 60 * 60),
            sweep_interval: Duration::from_secs(60 * 60),
        }
    }
}

impl WorkerSettings {
    /// Duration of a lease: four [steps](Self::step), 60 s by default. Nothing is sent unless the rest of the lease covers
    /// a step. The deliveries of a worker that died wait for so long.
    pub fn lease_duration(&self) -> Duration {
        self.step_timeout.saturating_mul(4)
    }
}

/// Sends webhooks, once it is [started](Self::start).
///
/// ```no_run
/// # use std::sync::Arc;
/// # use forum_api::webhook::Transport;
/// # use forum_api::{runtime::TokioRuntime, host::Authorizer, store::Webhooks, worker::Worker};
/// # async fn run(stores: Webhooks, authority: Arc<dyn Authorizer>, transport: impl Transport) {
/// let worker = Worker::new(stores, authority, transport, TokioRuntime).start();
/// worker.wake(); // after each commit that wrote an event
/// worker.stop().await; // before the process ends
/// # }
/// ```
pub struct Worker(WorkerContext);

impl Worker {
    /// A worker over these stores, which checks owners with `authority` and sends through `transport`.
    ///
    /// `environment` may be the [`Runtime`](crate::runtime::Runtime) on which its loops and attempts run. With
    /// [`Inline`](crate::runtime::Inline), which starts no tasks, nothing is ever sent.
    pub fn new(
        stores: WebhookStores,
        authority: Arc<dyn Authorizer>,
        transport: impl Transport,
        environment: impl Into<Environment>,
    ) -> Self {
        Self(WorkerContext {
            stores,
            authority,
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

    /// Takes these settings. Default: [`Settings::default`].
    #[must_use]
    pub fn settings(mut self, settings: WorkerSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Begins to work, on the runtime, until the handle's [`stop`](WorkerHandle::stop).
    pub fn start(self) -> WorkerHandle {
        let context = Arc::new(self.0);
        fan_out::start(&context);
        dispatch::start(&context);
        maintenance::start(&context);
        WorkerHandle::new(context)
    }
}

settings_debug!(Worker);
