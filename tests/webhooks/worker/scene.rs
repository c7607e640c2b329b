//! A board's webhooks with everything around them, and what a test does to them.

use forum_api::Environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use forum_api::host::BoxError;
use forum_api::model::{EndpointId, EventId, ForumId, MessageId, Timestamp, UserId};
use forum_api::runtime::{Clock, Entropy, ManualClock, NoEntropy};
use forum_api::store::{Filter, Webhooks};
use forum_api::test_util::ManualRuntime;
use forum_api::webhook::{
    Attempted, Delivery, Endpoint, Event, KeyId, Occasion, Plain, Sealed, Secret, SecretBox, State,
    Topic, Topics,
};
use forum_api::worker::{Settings, Worker, WorkerHandle};

use super::people::People;
use super::receivers::Receivers;
use super::stores::Counted;

/// Whole seconds.
pub(crate) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Longer than all attempts of a delivery take.
pub(crate) const HOUR: Duration = seconds(3600);

/// The secret of every endpoint.
pub(crate) const SECRET: &str = "whsec_of-all-the-endpoints";

/// Webhooks in memory, and who has to do with them.
pub(crate) struct Scene {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) runtime: ManualRuntime,
    pub(crate) receivers: Receivers,
    pub(crate) people: Arc<People>,
    /// As a test sees them.
    pub(crate) stores: Webhooks,
    /// As the worker sees them.
    pub(crate) counted: Counted,
    pub(crate) settings: Settings,
    pub(crate) spread: Spread,
    pub(crate) secrets: Arc<dyn SecretBox>,
    events: AtomicI64,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_767_225_600_000)));
        let runtime = ManualRuntime::new(clock.clone());
        let stores = Webhooks::in_memory();
        Self {
            receivers: Receivers::new(clock.clone(), runtime.clone()),
            clock,
            people: Arc::new(People::new(runtime.clone())),
            runtime,
            counted: Counted::new(stores.clone()),
            stores,
            settings: Settings::default(),
            spread: Spread(0),
            secrets: Arc::new(Plain),
            events: AtomicI64::default(),
        }
    }

    /// A worker that has done all that there is to do now.
    pub(crate) fn start(&self) -> WorkerHandle {
        let stores = Webhooks::in_one(self.counted.clone());
        let (people, receivers) = (self.people.clone(), self.receivers.clone());
        let environment = Environment::new(self.runtime.clone())
            .secrets(self.secrets.clone())
            .clock(self.clock.clone())
            .random(Arc::new(self.spread));
        let worker = Worker::new(stores, people, receivers, environment);
        let worker = worker.settings(self.settings.clone());
        let handle = worker.start();
        self.runtime.run();
        handle
    }

    /// Adds an endpoint that listens to all topics on behalf of member 1.
    pub(crate) fn add(&self, name: &str) -> Endpoint {
        self.add_with(name, |endpoint| endpoint)
    }

    pub(crate) fn add_with(
        &self,
        name: &str,
        change: impl FnOnce(Endpoint) -> Endpoint,
    ) -> Endpoint {
        let endpoint = change(endpoint(name, self.now()));
        let added = self.stores.endpoints.add(&endpoint);
        assert!(self.runtime.block_on(added).unwrap());
        endpoint
    }

    /// Adds an endpoint on behalf of this member.
    pub(crate) fn add_of(&self, owner: i64, name: &str) -> Endpoint {
        let owner = owner.into();
        self.add_with(name, |endpoint| Endpoint { owner, ..endpoint })
    }

    /// Adds an endpoint that listens to these topics.
    pub(crate) fn add_for(&self, topics: Topics, name: &str) -> Endpoint {
        self.add_with(name, |endpoint| Endpoint { topics, ..endpoint })
    }

    /// Puts another self in the endpoint's place.
    pub(crate) fn change(&self, id: &EndpointId, change: impl FnOnce(Endpoint) -> Endpoint) {
        let found = self.runtime.block_on(self.stores.endpoints.find(id));
        let changed = change(found.unwrap().unwrap());
        let updated = self.stores.endpoints.update(&changed);
        assert!(self.runtime.block_on(updated).unwrap());
    }

    fn event(&self, topic: &Topic, forum: Option<i64>) -> Event {
        let number = self.events.fetch_add(1, Ordering::SeqCst);
        event(number, topic, forum, self.now())
    }

    /// A post is made in forum 1.
    pub(crate) fn happen(&self) -> Event {
        self.happens(&Topic::POST_CREATED, Some(1))
    }

    pub(crate) fn happens(&self, topic: &Topic, forum: Option<i64>) -> Event {
        let event = self.event(topic, forum);
        let put = self.stores.outbox.put(&event);
        self.runtime.block_on(put).unwrap();
        event
    }

    /// Puts a `message.sent` between these members.
    pub(crate) fn send_message(&self, sender: i64, recipients: &[i64]) {
        let on = Occasion {
            id: self.event(&Topic::MESSAGE_SENT, None).id,
            at: self.now(),
        };
        let to: Vec<_> = recipients.iter().map(|id| UserId::from(*id)).collect();
        let event = Event::message_sent(on, &MessageId::from(1), &sender.into(), &to);
        let put = self.stores.outbox.put(&event);
        self.runtime.block_on(put).unwrap();
    }

    /// An event that this endpoint alone is told of.
    pub(crate) fn queue(&self, endpoint: &Endpoint) {
        self.queue_in(Some(1), endpoint);
    }

    pub(crate) fn queue_in(&self, forum: Option<i64>, endpoint: &Endpoint) {
        let event = self.event(&Topic::POST_CREATED, forum);
        let deliveries = &self.stores.deliveries;
        let sent = deliveries.send(&event, &endpoint.id, self.now());
        assert!(self.runtime.block_on(sent).unwrap().is_some());
    }

    /// An operator queues a dead or gone delivery again.
    pub(crate) fn retry(&self, delivery: &Delivery) {
        let retried = self.stores.deliveries.retry(&delivery.id, self.now());
        assert!(self.runtime.block_on(retried).unwrap());
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn pass(&self, duration: Duration) {
        self.runtime.pass(duration);
    }

    /// All deliveries, the newest first.
    pub(crate) fn deliveries(&self) -> Vec<Delivery> {
        let filter = Filter {
            limit: u32::MAX,
            ..Filter::default()
        };
        let listed = self.stores.deliveries.list(&filter);
        self.runtime.block_on(listed).unwrap()
    }

    /// How many deliveries are in a state.
    pub(crate) fn count(&self, state: State) -> usize {
        let all = self.deliveries().into_iter();
        all.filter(|one| one.progress.state == state).count()
    }

    /// The one delivery that there is, and its attempts.
    pub(crate) fn only(&self) -> (Delivery, Vec<Attempted>) {
        let [one] = &self.deliveries()[..] else {
            panic!("there is one delivery");
        };
        let found = self.stores.deliveries.find(&one.id);
        self.runtime.block_on(found).unwrap().unwrap()
    }

    /// Its state, and how many attempts have ended since it was queued.
    pub(crate) fn stands(&self) -> (State, u32) {
        let progress = self.only().0.progress;
        (progress.state, progress.attempts)
    }
}

pub(crate) fn url(name: &str) -> String {
    format!("https://{name}.example/")
}

/// An endpoint that listens to all topics on behalf of member 1.
pub(crate) fn endpoint(name: &str, now: Timestamp) -> Endpoint {
    let id = EndpointId::new(&format!("whe_{name}")).unwrap();
    Endpoint {
        url: url(name),
        topics: topics(true, &[]),
        owner: 1.into(),
        enabled: true,
        created_at: now,
        secret: Plain.seal(&Secret::new(SECRET).unwrap(), &id).unwrap(),
        id,
        pending: None,
        version: 1,
    }
}

/// An event of which nobody was told yet.
pub(crate) fn event(number: i64, topic: &Topic, forum: Option<i64>, now: Timestamp) -> Event {
    let id = EventId::new(&format!("evt_{number}")).unwrap();
    Event {
        body: format!(r#"{{"event":"{id}","topic":"{topic}"}}"#),
        id,
        topic: topic.clone(),
        occurred_at: now,
        forum: forum.map(ForumId::from),
    }
}

pub(crate) fn topics(all: bool, named: &[Topic]) -> Topics {
    Topics {
        all,
        named: named.iter().cloned().collect(),
    }
}

/// Spreads each wait alike: not at all with 0, nearly as much as can be with 255.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread(pub(crate) u8);

impl Entropy for Spread {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        bytes.fill(self.0);
        Ok(())
    }
}

/// A box that has lost its key.
#[derive(Debug)]
pub(crate) struct Lost;

impl SecretBox for Lost {
    fn key_id(&self) -> KeyId {
        KeyId::new("lost").unwrap()
    }

    fn seal(&self, _: &Secret, _: &EndpointId) -> Result<Sealed, BoxError> {
        Err("no key".into())
    }

    fn open(&self, _: &Sealed, _: &EndpointId) -> Result<Secret, BoxError> {
        Err("no key".into())
    }
}
