//! The demo board with all that delivers what it tells.

use forum_api::Environment;
use forum_api::runtime::Inline;
use std::sync::Arc;

use forum_api::Language;
use forum_api::host::Authority;
use forum_api::model::{DeliveryId, EndpointId, Timestamp};
use forum_api::runtime::Clock as _;
use forum_api::store::{FanOut, Filter, Webhooks};
use forum_api::webhook::{State, Topic};
use forum_api::webhook_admin::{Registration, Registry};
use serde_json::json;

use crate::backend::Backend;
use crate::demo::Demo;
use crate::wire::{Act, LONG, Paced, Receiver, loopback};

pub const OK: Act = Act::Say(b"HTTP/1.1 204 No Content\r\n\r\n");
pub const GONE: Act = Act::Say(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n");
pub const LATER: Act = Act::Say(b"HTTP/1.1 503 Later\r\ncontent-length: 0\r\n\r\n");

/// The demo board in a file, and its webhooks.
pub struct Post {
    pub demo: Demo,
    pub webhooks: Webhooks,
}

impl Post {
    pub async fn new() -> Self {
        let place = Backend::File.unless_chosen().place().await;
        Self {
            webhooks: place.webhooks(),
            demo: Demo::within(place, Language::English).await,
        }
    }

    /// Registers a receiver that does these one after the other, on behalf of a member.
    pub async fn add(
        &self,
        owner: &'static str,
        topics: &str,
        acts: &[Act],
    ) -> (Receiver, EndpointId) {
        let receiver = Receiver::acting(acts.to_vec(), None).await;
        let environment = Environment::new(Inline).clock(self.demo.clock.clone());
        let registry = Registry::new(self.webhooks.clone(), environment).allow_private(true);
        let added = registry.register(Registration {
            url: receiver.url("http://127.0.0.1"),
            topics: topics.parse().unwrap(),
            owner: self.demo.id(owner).await.into(),
            secret: None,
        });
        (receiver, added.await.unwrap().endpoint.id)
    }

    /// A worker that has done all that there is to do.
    pub async fn work(&self) -> Paced {
        let board: Arc<dyn Authority> = Arc::new(self.demo.board.clone());
        Paced::start(&self.demo.clock, &self.webhooks, board, loopback(LONG)).await
    }

    /// Bob begins a thread where members alone read.
    pub async fn happen(&self) {
        let threads = self.demo.threads_of("Members").await;
        let new = json!({ "title": "Cellar", "body": "Who has the key?" });
        assert_eq!(self.demo.post("bob", &threads, new).await.0, 201);
    }

    /// Queues the thread's event for an endpoint, as a worker does that dies then.
    pub async fn queue(&self, endpoint: &EndpointId) {
        let mut waiting = self.webhooks.outbox.waiting(100).await.unwrap();
        waiting.retain(|event| event.topic == Topic::THREAD_CREATED);
        let told = waiting.into_iter().map(|event| FanOut {
            event: event.id,
            endpoints: vec![endpoint.clone()],
        });
        let told: Vec<_> = told.collect();
        let fan_out = self.webhooks.outbox.fan_out(&told, self.now());
        fan_out.await.unwrap();
    }

    /// An operator queues a delivery again.
    pub async fn retry(&self, delivery: &DeliveryId) {
        let retried = self.webhooks.deliveries.retry(delivery, self.now());
        assert!(retried.await.unwrap());
    }

    fn now(&self) -> Timestamp {
        self.demo.clock.now()
    }

    /// The deliveries to an endpoint, each with its state.
    pub async fn deliveries(&self, endpoint: &EndpointId) -> Vec<(DeliveryId, State)> {
        let filter = Filter {
            endpoint: Some(endpoint.clone()),
            limit: u32::MAX,
            ..Filter::default()
        };
        let listed = self.webhooks.deliveries.list(&filter).await.unwrap();
        let states = listed.into_iter().map(|it| (it.id, it.progress.state));
        states.collect()
    }

    /// The state of the one delivery to an endpoint.
    pub async fn state(&self, endpoint: &EndpointId) -> State {
        let deliveries = self.deliveries(endpoint).await;
        let [(_, state)] = deliveries[..] else {
            panic!("{deliveries:?}");
        };
        state
    }
}
