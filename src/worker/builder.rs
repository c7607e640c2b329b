//! A worker and its builder.

use std::sync::Arc;

use tokio::sync::watch;

use super::context::WorkerContext;
use super::poll_loop::PollLoop;
use super::slots::Slots;
use super::{WorkerHandle, WorkerSettings, dispatch, fan_out, maintenance, relay};
use crate::build_error::BuildError;
use crate::environment::Environment;
use crate::host::Authorizer;
use crate::store::{PendingEventStore, WebhookStores};
use crate::webhook::{HttpTransport, Resolver, SystemResolver, Transport};

/// Worker that delivers webhooks. [`builder`](Self::builder) builds it, [`start`](Self::start) starts it.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use forum_api::{BuildError, Environment, host::Authorizer, store::WebhookStores, worker::Worker};
/// # async fn run(
/// #     stores: WebhookStores,
/// #     authorizer: Arc<dyn Authorizer>,
/// #     environment: &Environment,
/// # ) -> Result<(), BuildError> {
/// let worker = Worker::builder(stores, authorizer, environment).build()?.start();
/// worker.wake(); // after each commit that wrote an event
/// worker.stop().await; // before the process ends
/// # Ok(())
/// # }
/// ```
#[must_use = "the worker does nothing until `start` is called"]
#[doc(alias = "queue")]
#[doc(alias = "background")]
pub struct Worker(WorkerContext);

/// Builder of a [`Worker`]. Required parts are arguments of [`Worker::builder`]; everything else has a default.
#[must_use = "the builder does nothing until `build` is called"]
pub struct WorkerBuilder {
    stores: WebhookStores,
    pending_events: Option<Arc<dyn PendingEventStore>>,
    authorizer: Arc<dyn Authorizer>,
    transport: Option<Arc<dyn Transport>>,
    resolver: Arc<dyn Resolver>,
    environment: Environment,
    settings: WorkerSettings,
}

impl Worker {
    /// Creates a builder of a worker that reads `stores` and checks the owners of endpoints with `authorizer`.
    pub fn builder(
        stores: WebhookStores,
        authorizer: impl Authorizer,
        environment: &Environment,
    ) -> WorkerBuilder {
        WorkerBuilder {
            stores,
            pending_events: None,
            authorizer: Arc::new(authorizer),
            transport: None,
            resolver: Arc::new(SystemResolver),
            environment: environment.clone(),
            settings: WorkerSettings::default(),
        }
    }

    /// Starts the worker on the runtime. It runs until [`WorkerHandle::stop`].
    pub fn start(self) -> WorkerHandle {
        let context = Arc::new(self.0);
        relay::start(&context);
        fan_out::start(&context);
        dispatch::start(&context);
        maintenance::start(&context);
        WorkerHandle::new(context)
    }
}

impl WorkerBuilder {
    /// Sets the settings. Default: [`WorkerSettings::default`].
    pub fn settings(mut self, settings: WorkerSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the transport of the attempts, which replaces the [`resolver`](Self::resolver) and the settings of connections in
    /// [`WorkerSettings`]. Default: HTTP and TLS. The default transport needs a tokio runtime with time and I/O enabled.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Sets the resolver of the host names of receivers. Pass the same resolver to `WebhookAdmin::resolver`, which checks new
    /// URLs. Not used if a [`transport`](Self::transport) is set. Default: [`SystemResolver`].
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Copies the events of a board whose transactions cannot write to the outbox. Default: none.
    pub fn pending_events(mut self, events: impl PendingEventStore) -> Self {
        self.pending_events = Some(Arc::new(events));
        self
    }

    /// Builds the worker.
    ///
    /// # Errors
    /// [`BuildError`] if a setting is invalid.
    pub fn build(self) -> Result<Worker, BuildError> {
        self.settings.validate()?;
        let transport = match self.transport {
            Some(transport) => transport,
            None if self.settings.attempt_timeout >= self.settings.step_timeout => {
                return Err(BuildError::new("attempt_timeout", "less than `step_timeout`"));
            }
            None => Arc::new(HttpTransport::new(self.settings.http())?.resolver(self.resolver)),
        };
        Ok(Worker(WorkerContext {
            stores: self.stores,
            pending_events: self.pending_events,
            authorizer: self.authorizer,
            transport,
            environment: self.environment,
            settings: self.settings,
            relay: PollLoop::new("relay"),
            events: PollLoop::new("fan-out"),
            deliveries: PollLoop::new("claim"),
            sweep: PollLoop::new("sweep"),
            correction: PollLoop::new("correction"),
            slots: Slots::default(),
            stop: watch::Sender::default(),
            tasks: watch::Sender::default(),
        }))
    }
}

debug_fields!(Worker, |it| settings: it.0.settings);
debug_fields!(WorkerBuilder, |it| settings: it.settings);
