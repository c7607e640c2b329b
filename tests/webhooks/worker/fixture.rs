//! A worker with in-memory stores, fake authorizer and fake transport.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use forum_api::Environment;
use forum_api::model::{EndpointId, EventId, ForumId, Timestamp};
use forum_api::runtime::{Clock, ManualClock, RandomError, RandomSource, Runtime as _};
use forum_api::store::{DeliveryFilter, PendingEventStore, WebhookStores};
use forum_api::test_util::{
    Intervention, ManualRuntime, StoreInterceptor, audit_entry, stores_in_memory,
};
use forum_api::webhook::{
    AttemptRecord, Delivery, DeliveryState, Endpoint, Event, PlaintextCipher, SecretCipher, Topic,
    WebhookSecret,
};
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};

use super::owners::FakeAuthorizer;
use super::transport::{FakeTransport, Reply, Sent};

pub(crate) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Longer than all six attempts of a delivery.
pub(crate) const HOUR: Duration = seconds(3600);

/// Secret of all endpoints.
pub(crate) const SECRET: &str = "whsec_of-all-the-endpoints";

pub(crate) struct WorkerFixture {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) runtime: ManualRuntime,
    pub(crate) transport: FakeTransport,
    pub(crate) owners: Arc<FakeAuthorizer>,
    /// The stores without the interceptor.
    pub(crate) stores: WebhookStores,
    /// Intercepts the calls of the worker.
    pub(crate) calls: StoreInterceptor,
    pub(crate) settings: WorkerSettings,
    pub(crate) jitter: FixedJitter,
    pub(crate) secrets: Arc<dyn SecretCipher>,
    /// Events in the board's own database, if it has them.
    pub(crate) pending_events: Option<Arc<dyn PendingEventStore>>,
    events: AtomicI64,
}

impl WorkerFixture {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let runtime = ManualRuntime::new(clock.clone());
        Self {
            transport: FakeTransport::new(clock.clone(), runtime.clone()),
            clock,
            owners: Arc::new(FakeAuthorizer::new(runtime.clone())),
            runtime,
            stores: stores_in_memory().1,
            calls: StoreInterceptor::default(),
            settings: WorkerSettings::default(),
            jitter: FixedJitter(0),
            secrets: Arc::new(PlaintextCipher),
            pending_events: None,
            events: AtomicI64::default(),
        }
    }

    /// Creates an endpoint `a` with these replies, and an event.
    pub(crate) fn with_replies(replies: impl IntoIterator<Item = Reply>) -> Self {
        let fixture = Self::new();
        fixture.add("a");
        fixture.transport.set_replies("a", replies);
        fixture.insert_post_event();
        fixture
    }

    /// Polls only once an hour.
    pub(crate) fn with_hourly_poll() -> Self {
        let mut fixture = Self::new();
        fixture.settings.poll_interval = HOUR;
        fixture
    }

    /// Starts a worker and runs it until it is idle.
    pub(crate) fn start(&self) -> WorkerHandle {
        let environment = Environment::new(self.runtime.clone())
            .secret_cipher(self.secrets.clone())
            .clock(self.clock.clone())
            .random(Arc::new(self.jitter));
        let stores = self.calls.webhooks(&self.stores);
        let owners = self.owners.clone();
        let transport = self.transport.clone();
        let mut worker = Worker::builder(stores, owners, &environment)
            .transport(transport)
            .settings(self.settings.clone());
        if let Some(events) = &self.pending_events {
            worker = worker.pending_events(events.clone());
        }
        let handle = worker.build().unwrap().start();
        self.runtime.run_until_idle();
        handle
    }

    /// Wakes the worker and runs it until it is idle.
    pub(crate) fn wake(&self, handle: &WorkerHandle) {
        handle.wake();
        self.runtime.run_until_idle();
    }

    /// Begins to stop the worker.
    pub(crate) fn stop(&self, handle: &WorkerHandle) {
        let handle = handle.clone();
        let stop = Box::pin(async move { handle.stop().await });
        drop(self.runtime.spawn(stop));
        self.runtime.run_until_idle();
    }

    /// Makes the calls of the worker fail for which `fails` returns `true`. Its arguments are the method and the number
    /// of earlier calls of all methods.
    pub(crate) fn fail(&self, fails: fn(&str, u32) -> bool) {
        self.calls.on_call(move |method, calls| {
            if fails(method, calls) { Intervention::Fail } else { Intervention::Proceed }
        });
    }

    /// Returns the calls of the worker since the last call of this function, without those for metrics and for
    /// the correction of times.
    pub(crate) fn take_counts(&self) -> BTreeMap<&'static str, u32> {
        let mut counts = self.calls.take_counts();
        counts.remove("deliveries.queue_stats");
        counts.remove("deliveries.correct_times");
        counts
    }

    /// Adds an endpoint of member 1 that subscribes to all topics.
    pub(crate) fn add(&self, name: &str) -> Endpoint {
        self.add_with(name, |_| {})
    }

    pub(crate) fn add_with(&self, name: &str, edit: impl FnOnce(&mut Endpoint)) -> Endpoint {
        let mut endpoint = endpoint(name, self.now());
        edit(&mut endpoint);
        let audit = audit_entry();
        let added = self.stores.endpoints().add(&endpoint, &audit);
        assert!(self.runtime.block_on(added).unwrap());
        endpoint
    }

    /// Adds an endpoint of this member.
    pub(crate) fn add_for_owner(&self, owner: i64, name: &str) -> Endpoint {
        self.add_with(name, |endpoint| endpoint.owner = owner.into())
    }

    pub(crate) fn update(&self, id: &EndpointId, change: impl FnOnce(&mut Endpoint)) {
        let found = self.runtime.block_on(self.stores.find_endpoint(id));
        let mut endpoint = found.unwrap().unwrap();
        change(&mut endpoint);
        let audit = audit_entry();
        let updated = self.stores.endpoints().update(&endpoint, &audit);
        assert!(self.runtime.block_on(updated).unwrap());
    }

    /// Inserts an event of a post in forum 1.
    pub(crate) fn insert_post_event(&self) -> Event {
        self.insert_event(self.event(&Topic::POST_CREATED, Some(1)))
    }

    pub(crate) fn insert_event(&self, event: Event) -> Event {
        let inserted = self.stores.insert_event(&event);
        self.runtime.block_on(inserted).unwrap();
        event
    }

    pub(crate) fn event(&self, topic: &Topic, forum: Option<i64>) -> Event {
        let number = self.events.fetch_add(1, Ordering::SeqCst);
        event(number, topic, forum, self.now())
    }

    /// Queues deliveries of a post in forum 1 to this endpoint only.
    pub(crate) fn queue(&self, endpoint: &Endpoint, deliveries: u32) {
        for _ in 0..deliveries {
            let event = self.event(&Topic::POST_CREATED, Some(1));
            let deliveries = self.stores.deliveries();
            let queued = deliveries.enqueue(&event, &endpoint.id, self.now());
            assert!(self.runtime.block_on(queued).unwrap().is_some());
        }
    }

    /// Adds an endpoint with these replies, and queues deliveries to it.
    pub(crate) fn queue_to_new(
        &self,
        name: &str,
        replies: impl IntoIterator<Item = Reply>,
        deliveries: u32,
    ) {
        self.transport.set_replies(name, replies);
        self.queue(&self.add(name), deliveries);
    }

    /// Retries the only delivery as an operator.
    pub(crate) fn retry(&self, handle: &WorkerHandle) {
        let id = self.only_delivery().0.id;
        let audit = audit_entry();
        let retried = self.stores.deliveries().retry(&id, self.now(), &audit);
        assert!(self.runtime.block_on(retried).unwrap());
        self.wake(handle);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn advance(&self, duration: Duration) {
        self.runtime.advance(duration);
    }

    pub(crate) fn deliveries(&self) -> Vec<Delivery> {
        let mut filter = DeliveryFilter::default();
        filter.limit = u32::MAX;
        let list = self.stores.list_deliveries(&filter);
        let listed = self.runtime.block_on(list).unwrap();
        listed.into_iter().map(|(delivery, _)| delivery).collect()
    }

    /// Returns the number of deliveries in a state.
    pub(crate) fn count(&self, state: DeliveryState) -> usize {
        let all = self.deliveries().into_iter();
        all.filter(|one| one.progress.state == state).count()
    }

    /// Returns the only delivery with its attempts.
    pub(crate) fn only_delivery(&self) -> (Delivery, Vec<AttemptRecord>) {
        let [one] = &self.deliveries()[..] else {
            panic!("not exactly one delivery");
        };
        let found = self.stores.find_delivery(&one.id);
        self.runtime.block_on(found).unwrap().unwrap()
    }

    /// Returns state and number of attempts of the only delivery.
    pub(crate) fn progress(&self) -> (DeliveryState, u32) {
        let progress = self.only_delivery().0.progress;
        (progress.state, progress.attempts)
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.transport.sent()
    }
}

pub(crate) fn url(name: &str) -> String {
    format!("https://{name}.example/")
}

/// Creates an endpoint of member 1 that subscribes to all topics.
fn endpoint(name: &str, now: Timestamp) -> Endpoint {
    let secret = WebhookSecret::parse(SECRET).unwrap();
    let mut endpoint = crate::sample::endpoint("A");
    endpoint.id = EndpointId::parse(&format!("whe_{name}")).unwrap();
    endpoint.url = url(name);
    endpoint.secret = PlaintextCipher.encrypt(&secret, &endpoint.id).unwrap();
    endpoint.created_at = now;
    endpoint
}

fn event(number: i64, topic: &Topic, forum: Option<i64>, now: Timestamp) -> Event {
    let id = EventId::parse(&format!("evt_{number}")).unwrap();
    Event {
        body: format!(r#"{{"event":"{id}","topic":"{topic}"}}"#),
        id,
        topic: topic.clone(),
        occurred_at: now,
        forum_id: forum.map(ForumId::from),
        request_id: Some("7f3a".into()),
    }
}

/// Constant jitter: none with 0, almost a fifth of the delay with 255.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedJitter(pub(crate) u8);

impl RandomSource for FixedJitter {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(self.0);
        Ok(())
    }
}
