//! A board with webhooks, in a database that is deleted afterwards.

use std::sync::Arc;

use forum_api::audit::AuditActor;
use forum_api::host::RequestInfo;
use forum_api::model::UserId;
use forum_api::runtime::{Clock as _, OsRandom, SystemClock};
use forum_api::scope::Surface;
use forum_api::store::postgres::tokio_postgres_0_7::{connect, migrate};
use forum_api::store::sqlite::{self, DatabasePath};
use forum_api::store::{TokenStore, WebhookStores};
use forum_api::token::{TokenRequest, issue_token};
use forum_api::webhook::{AllowedAddresses, Event, Topic, TopicSet};
use forum_api::webhook_admin::{NewEndpoint, WebhookAdmin};
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};
use forum_api::{Environment, Language};
use forum_server::board::access::groups::{Group, Groups};
use forum_server::board::db::BoardDatabase;
use forum_server::board::{ReferenceBoard, accounts};
use forum_test_support::program::ServerDirectory;
use serde_json::json;

/// Number of connections to Postgres.
pub const CONNECTIONS: usize = 16;

/// Number of events in one transaction.
const BATCH: usize = 1_000;

#[expect(missing_debug_implementations, reason = "a fixture")]
pub struct BenchFixture {
    pub board: ReferenceBoard,
    pub webhooks: WebhookStores,
    pub database: BoardDatabase,
    pub directory: ServerDirectory,
    /// Owner of the endpoints.
    owner: UserId,
}

impl BenchFixture {
    /// Creates a board with one member on the backend of the environment.
    pub async fn new() -> Self {
        let directory = ServerDirectory::new();
        let database = open(&directory.database_url()).await;
        let board = ReferenceBoard::new(database.clone(), Arc::new(SystemClock), Language::English);
        board.migrate().await.unwrap();
        let groups = Groups::of([Group::Members, Group::Administrators]);
        let owner = board
            .write(move |tx, events| Box::pin(accounts::add(tx, "owner", groups, events.now)))
            .await
            .unwrap();
        Self { owner: owner.into(), webhooks: database.webhooks(), board, database, directory }
    }

    /// Adds an endpoint that subscribes to this topic.
    pub async fn endpoint(&self, url: &str, topic: &Topic) {
        let topics = TopicSet { all: false, named: [topic.clone()].into() };
        let new = NewEndpoint {
            url: url.into(),
            topics,
            owner: self.owner.clone(),
            owner_name: None,
            secret: None,
        };
        let environment = Environment::default().topic(topic.clone(), "A text.", &());
        let webhook_admin = WebhookAdmin::new(self.webhooks.clone(), &environment)
            .allowed_addresses(AllowedAddresses::Private);
        webhook_admin.add(new, &AuditActor::SYSTEM).await.unwrap();
    }

    /// Starts a worker with these settings, which may send to loopback.
    pub fn work(&self, mut settings: WorkerSettings) -> WorkerHandle {
        let authority = Arc::new(self.board.clone());
        settings.allowed_addresses = AllowedAddresses::Private;
        let environment = Environment::default();
        Worker::builder(self.webhooks.clone(), authority, &environment)
            .settings(settings)
            .build()
            .unwrap()
            .start()
    }

    /// Writes `count` events of this topic, as a host does.
    pub async fn put(&self, topic: &Topic, count: usize) {
        for first in (0..count).step_by(BATCH) {
            let batch = BATCH.min(count - first);
            let events: Vec<_> = (0..batch).map(|_| event(topic)).collect();
            self.board
                .write(move |tx, _| {
                    Box::pin(async move {
                        for event in &events {
                            tx.execute_texts(Event::INSERT_SQL, &event.insert_parameters()).await?;
                        }
                        Ok(())
                    })
                })
                .await
                .unwrap();
        }
    }
}

/// Opens a database with the library's tables.
async fn open(url: &str) -> BoardDatabase {
    match url.strip_prefix("sqlite:") {
        Some(path) => {
            let path = path.into();
            let location = DatabasePath::File { path, create: true };
            sqlite::Database::open(&location).unwrap().into()
        }
        None => {
            let pool = connect(url, CONNECTIONS).unwrap();
            migrate(&pool).await.unwrap();
            pool.into()
        }
    }
}

/// Issues a token of this owner with all scopes.
pub async fn issue(tokens: &dyn TokenStore, owner: &UserId) -> String {
    let scopes: Vec<_> = Surface::Full.scopes().collect();
    let wanted = TokenRequest::new(owner, &scopes).label("bench");
    let now = SystemClock.now();
    let issued = issue_token(tokens, &OsRandom, Surface::Full, wanted, now).await;
    issued.unwrap().0.expose_secret().to_owned()
}

/// An event of 1 KB.
pub fn event(topic: &Topic) -> Event {
    let now = SystemClock.now();
    let on = RequestInfo::background(now).event(now).unwrap();
    Event::new(topic.clone(), on, None, &json!({ "text": "x".repeat(890) }))
}
