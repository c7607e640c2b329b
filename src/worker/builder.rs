//! A worker before it is started, and its settings.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::context::WorkerContext;
use super::poll_loop::PollLoop;
use super::slots::Slots;
use super::{WorkerHandle, dispatch, fan_out, maintenance};
use crate::environment::Environment;
use crate::host::Authority;
use crate::store::Webhooks;
use crate::webhook::{Backoff, Transport};

/// The settings of a worker. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The waits between the attempts of a delivery. Default: 30 s, doubling, never more than one hour.
    pub backoff: Backoff,
    /// How many attempts are in progress at once. Default: 256.
    pub at_once: u32,
    /// How many of them go to one endpoint. Default: 4.
    pub per_endpoint: u32,
    /// How long to sleep at most before looking for what other processes have written. Default: 1 s.
    pub poll: Duration,
    /// Time limit of a step of an attempt: the check of the owner, decrypting the secret, recording that sending begins,
    /// sending, recording the end. Default: 15 s. A transport's own limit has to be shorter.
    pub step: Duration,
    /// How long deliveries are kept that were delivered, gone or withheld. Default: 7 days.
    pub keep: Duration,
    /// The time between two sweeps of what is not kept. Default: 1 hour.
    pub sweep: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            at_once: 256,
            per_endpoint: 4,
            poll: Duration::from_secs(1),
            step: Duration::from_secs(15),
            keep: Duration::from_secs(7 * 24 * 60 * 60),
            sweep: Duration::from_secs(60 * 60),
        }
    }
}

impl Settings {
    /// Duration of a lease: four [steps](Self::step), 60 s by default. Nothing is sent unless the rest of the lease covers
    /// a step. The deliveries of a worker that died wait for so long.
    pub fn lease(&self) -> Duration {
        self.step.saturating_mul(4)
    }
}

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
pub struct Worker(WorkerContext);

impl Worker {
    /// A worker over these stores, which checks owners with `authority` and sends through `transport`.
    ///
    /// `environment` may be the [`Runtime`](crate::runtime::Runtime) on which its loops and attempts run. With
    /// [`Inline`](crate::runtime::Inline), which starts no tasks, nothing is ever sent.
    pub fn new(
        stores: Webhooks,
        authority: Arc<dyn Authority>,
        transport: impl Transport,
        environment: impl Into<Environment>,
    ) -> Self {
        Self(WorkerContext {
            stores,
            authority,
            transport: Arc::new(transport),
            environment: environment.into(),
            settings: Settings::default(),
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
    pub fn settings(mut self, settings: Settings) -> Self {
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
