//! A board with webhooks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forum_api::Language;
use forum_api::audit::AuditActor;
use forum_api::model::{EndpointId, UserId};
use forum_api::runtime::{Clock, OsRandom, SystemClock, TokioRuntime};
use forum_api::store::{FanOut, WebhookStores};
use forum_api::webhook::{Event, EventMeta, HttpTransport, HttpTransportSettings, Topic, TopicSet};
use forum_api::webhook_admin::{NewEndpoint, WebhookAdmin};
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};
use serde_json::json;

use crate::storage::Storage;
use forum_server::board::groups::{Group, Groups};
use forum_server::board::{ReferenceBoard, accounts};

/// Number of events in one transaction.
const BATCH: usize = 1_000;

#[expect(missing_debug_implementations, reason = "a fixture")]
pub struct BenchFixture {
    pub board: ReferenceBoard,
    pub webhooks: WebhookStores,
    /// Owner of the endpoints.
    owner: UserId,
    pub storage: Storage,
}

impl BenchFixture {
    /// Creates a board with one member.
    pub async fn new() -> Self {
        Self::within(Storage::new().await).await
    }

    /// Creates a board with one member in this database.
    pub async fn within(storage: Storage) -> Self {
        let database = storage.database.clone();
        let board = ReferenceBoard::new(database.clone(), Arc::new(SystemClock), Language::English);
        board.migrate().await.unwrap();
        let groups = Groups::of([Group::Members, Group::Administrators]);
        let owner =
            board.write(move |tx, events| Box::pin(accounts::add(tx, "owner", groups, events.now)));
        Self {
            owner: owner.await.unwrap().into(),
            webhooks: database.webhooks(),
            board,
            storage,
        }
    }

    /// Path of the SQLite file.
    pub fn path(&self) -> PathBuf {
        self.storage.file.clone().unwrap()
    }

    /// Adds an endpoint that subscribes to this topic.
    pub async fn endpoint(&self, url: &str, topic: &Topic) -> EndpointId {
        let webhook_admin =
            WebhookAdmin::new(self.webhooks.clone(), TokioRuntime).allow_private_addresses(true);
        let topics = TopicSet {
            all: false,
            named: [topic.clone()].into(),
        };
        let new = NewEndpoint {
            url: url.into(),
            topics: topics.clone(),
            owner: self.owner.clone(),
            owner_name: None,
            secret: None,
        };
        let webhook_admin = webhook_admin.custom_topics(topics.named.into_iter().collect());
        webhook_admin
            .add(new, &AuditActor::SYSTEM)
            .await
            .unwrap()
            .endpoint
            .id
    }

    /// Starts a worker with these settings.
    pub fn work(&self, settings: WorkerSettings) -> WorkerHandle {
        let authority = Arc::new(self.board.clone());
        Worker::builder(self.webhooks.clone(), authority, transport(), TokioRuntime)
            .settings(settings)
            .build()
            .unwrap()
            .start()
    }

    /// Writes `count` events of this topic, as a host does.
    pub async fn put(&self, topic: &Topic, count: usize) {
        for first in (0..count).step_by(BATCH) {
            self.write(events(topic, BATCH.min(count - first))).await;
        }
    }

    /// Queues `count` deliveries for this endpoint only.
    pub async fn queue(&self, topic: &Topic, to: &EndpointId, count: usize) {
        for first in (0..count).step_by(BATCH) {
            let events = events(topic, BATCH.min(count - first));
            let to = |event: &Event| FanOut {
                event_id: event.id.clone(),
                endpoint_ids: vec![to.clone()],
            };
            let fan_out: Vec<_> = events.iter().map(to).collect();
            self.write(events).await;
            let now = SystemClock.now().saturating_sub(Duration::from_secs(1));
            self.webhooks.outbox.fan_out(&fan_out, now).await.unwrap();
        }
    }

    async fn write(&self, events: Vec<Event>) {
        let write = self.board.write(move |tx, _| {
            Box::pin(async move {
                for event in &events {
                    tx.defer_texts(Event::INSERT_SQL, event.insert_parameters().into())?;
                }
                Ok(())
            })
        });
        write.await.unwrap();
    }
}

/// A transport that may send to loopback.
pub fn transport() -> HttpTransport {
    let mut settings = HttpTransportSettings::default();
    settings.allow_private_addresses = true;
    HttpTransport::new(settings).unwrap()
}

/// An event of 1 KB.
pub fn event(topic: &Topic) -> Event {
    let on = EventMeta::new(&OsRandom, SystemClock.now()).unwrap();
    let event = |letters| json!({ "text": "x".repeat(letters) });
    Event::new(topic.clone(), on, None, &event(890))
}

fn events(topic: &Topic, count: usize) -> Vec<Event> {
    (0..count).map(|_| event(topic)).collect()
}
