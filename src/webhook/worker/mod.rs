//! The worker: tells each endpoint what happened, and keeps at it (spec, Delivery rules; contract, section 8).
//!
//! Five loops run side by side: events are fanned out to deliveries, due deliveries are claimed and attempted, the start
//! of sending is recorded, the end of attempts is recorded, and old deliveries are swept. With the feature `metrics`, a
//! sixth measures the queue. The loops do not wait for each other, and each attempt is a task of its own,
//! so that neither many events nor a slow receiver delays the rest. Any number of workers may share one store.

mod attempt;
mod audience;
mod crew;
mod dispatch;
mod fan_out;
#[cfg(feature = "metrics")]
mod gauge;
mod handle;
mod lane;
mod ledger;
mod owners;
mod settings;
mod slots;
mod start_batcher;
mod sweep;
mod tried;

use std::sync::Arc;

use tokio::sync::watch;

use super::{Plain, SecretBox, Transport};
use crate::host::Authority;
use crate::runtime::{Clock, Entropy, Runtime, SystemClock, SystemEntropy};
use crate::store::Webhooks;
use crew::Crew;

pub use handle::{Health, WorkerHandle};
pub use settings::Settings;

/// Sends webhooks, once it is [started](Self::start).
///
/// ```no_run
/// # use std::sync::Arc;
/// # use forum_api::webhook::Transport;
/// # use forum_api::{runtime::TokioRuntime, host::Authority, store::Webhooks, webhook::worker::Worker};
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
    /// `runtime` is the executor on which its loops and attempts run:
    /// [`TokioRuntime`](crate::runtime::TokioRuntime) behind the feature `tokio`. With
    /// [`Inline`](crate::runtime::Inline), which starts no tasks, nothing is ever sent.
    pub fn new(
        stores: Webhooks,
        authority: Arc<dyn Authority>,
        transport: impl Transport,
        runtime: impl Runtime,
    ) -> Self {
        Self(Crew {
            stores,
            authority,
            transport: Arc::new(transport),
            runtime: Arc::new(runtime),
            secrets: Arc::new(Plain),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            settings: Settings::default(),
            events: lane::Lane::default(),
            deliveries: lane::Lane::default(),
            sweep: lane::Lane::default(),
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

    /// Opens the secrets of endpoints with `secrets`. Default: [`Plain`].
    #[must_use]
    pub fn secrets(mut self, secrets: Arc<dyn SecretBox>) -> Self {
        self.0.secrets = secrets;
        self
    }

    /// Takes the time from `clock`. Default: [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.0.clock = clock;
        self
    }

    /// Takes randomness, which spreads the waits, from `entropy`. Default: [`SystemEntropy`].
    #[must_use]
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.0.entropy = entropy;
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
        gauge::start(&crew, &alive);
        WorkerHandle::new(crew, ended)
    }
}

settings_debug!(Worker);
