//! Databases of the boards under test.

use std::any::Any;
use std::env;
use std::sync::{Arc, OnceLock};

use forum_api::Language;
use forum_api::model::{EndpointId, Timestamp, UserId};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::WebhookStores;
use forum_api::store::postgres::{LeaseClock, PostgresStore, connect, migrate};
use forum_api::store::sqlite::{self, DatabasePath};
use forum_api::webhook::{EncryptedSecret, Endpoint};

use crate::board::db::BoardDatabase;
use crate::board::{ReferenceBoard, demo};
use crate::postgres;

/// A kind of database.
#[derive(Clone, Copy, Debug)]
pub enum Backend {
    /// SQLite, in memory.
    Memory,
    /// SQLite, in a file.
    File,
    /// Postgres.
    Postgres,
}

/// A database with the tables of a board, which is removed with this value.
pub struct Place {
    pub database: BoardDatabase,
    _kept: Box<dyn Any + Send + Sync>,
}

impl Backend {
    /// Returns Postgres if `FORUM_API_BACKEND` is set, and `self` otherwise.
    pub fn unless_chosen(self) -> Self {
        env::var_os("FORUM_API_BACKEND").map_or(self, |_| Self::Postgres)
    }

    /// Creates a database with an empty board.
    pub async fn place(self) -> Place {
        match self {
            Self::Memory => in_sqlite(&DatabasePath::Memory, ()).await,
            Self::File => {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("forum.db");
                in_sqlite(&DatabasePath::File { path, create: true }, directory).await
            }
            Self::Postgres => in_postgres(),
        }
    }
}

impl Place {
    /// Returns the board in this database.
    pub fn board(&self, clock: Arc<dyn Clock>, language: Language) -> ReferenceBoard {
        ReferenceBoard::new(self.database.clone(), clock, language)
    }

    /// Returns the webhook stores. Leases use the times that a test passes.
    pub fn webhooks(&self) -> WebhookStores {
        match &self.database {
            BoardDatabase::Sqlite(database) => WebhookStores::in_sqlite(database),
            BoardDatabase::Postgres(database) => {
                let postgres = PostgresStore::new(database.pool.clone());
                WebhookStores::from_store(postgres.lease_clock(LeaseClock::Caller))
            }
        }
    }

    /// Registers an endpoint for all topics, without which the board writes no events.
    pub async fn add_endpoint(&self) {
        let endpoint = Endpoint {
            id: EndpointId::parse("whe_0000000000000000000001").unwrap(),
            url: "https://receiver.example".into(),
            topics: "*,message.sent".parse().unwrap(),
            owner: UserId::from(1),
            enabled: true,
            created_at: Timestamp::default(),
            secret: EncryptedSecret::new(vec![7; 16]),
            pending_secret: None,
            failing_since: None,
            auto_disabled: false,
            version: 1,
        };
        let endpoints = self.webhooks().endpoints;
        let entry = forum_api::test_util::audit_entry();
        assert!(endpoints.add(&endpoint, &entry).await.unwrap());
    }

    /// Creates the demo board in this database.
    pub async fn demo(&self, clock: Arc<dyn Clock>, language: Language) -> ReferenceBoard {
        let board = self.board(clock, language);
        let begin = board.write(|tx, events| Box::pin(demo::begin(tx, "", false, events.now)));
        assert_eq!(begin.await.unwrap().unwrap().name, "alice");
        board
    }
}

async fn in_sqlite(location: &DatabasePath, kept: impl Any + Send + Sync) -> Place {
    let database = BoardDatabase::from(sqlite::Database::open(location).unwrap());
    let place = Place {
        database,
        _kept: Box::new(kept),
    };
    make_tables(&place.database).await;
    place
}

/// Copies a database with the tables, which takes half the time of creating them.
fn in_postgres() -> Place {
    static LIKE: OnceLock<postgres::Database> = OnceLock::new();
    let made = postgres::Database::copy_of(LIKE.get_or_init(with_tables));
    Place {
        database: connect(&made.url(), 16).unwrap().into(),
        _kept: Box::new(made),
    }
}

fn with_tables() -> postgres::Database {
    let made = postgres::Database::new();
    let pool = connect(&made.url(), 1).unwrap();
    postgres::block_on_thread(async move {
        migrate(&pool).await.unwrap();
        make_tables(&pool.into()).await;
    });
    made
}

async fn make_tables(database: &BoardDatabase) {
    let board = ReferenceBoard::new(database.clone(), Arc::new(SystemClock), Language::English);
    board.migrate().await.unwrap();
}
