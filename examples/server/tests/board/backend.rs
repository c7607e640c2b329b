//! Backends of the tests: SQLite in memory, SQLite in a file, and Postgres.

use std::any::Any;
use std::env;
use std::sync::OnceLock;

use forum_api::store::WebhookStores;
use forum_api::store::postgres::LeaseClock;
use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::Pool;
use forum_api::store::postgres::tokio_postgres_0_7::migrate;
use forum_api::store::sqlite::{self, DatabasePath};
use forum_api::test_util;

use crate::board::demo;
use crate::postgres;
use crate::prelude::*;

/// Kind of database.
#[derive(Clone, Copy, Debug)]
pub enum Backend {
    /// SQLite, in memory.
    Memory,
    /// SQLite, in a file.
    File,
    /// Postgres.
    Postgres,
}

/// A database with the tables of a board.
pub struct Storage {
    pub database: BoardDatabase,
    /// Keeps the directory or the Postgres database until the end of the test.
    _guard: Box<dyn Any + Send + Sync>,
}

impl Backend {
    /// Returns Postgres if `FORUM_API_BACKEND` is set, and otherwise this backend.
    pub fn or_from_environment(self) -> Self {
        if env::var_os("FORUM_API_BACKEND").is_some() { Self::Postgres } else { self }
    }

    /// Creates storage for a board without content.
    pub async fn create_storage(self) -> Storage {
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

impl Storage {
    pub fn board(&self, clock: Arc<dyn Clock>, language: Language) -> ReferenceBoard {
        ReferenceBoard::new(self.database.clone(), clock, language)
    }

    /// Returns the webhook stores. Leases use the times that a test passes.
    pub fn webhooks(&self) -> WebhookStores {
        match &self.database {
            BoardDatabase::Sqlite(database) => WebhookStores::in_sqlite(database),
            BoardDatabase::Postgres(database) => {
                WebhookStores::in_postgres_with(&database.pool, LeaseClock::Caller)
            }
        }
    }

    /// Returns the connections to Postgres. Panics if the database is in SQLite.
    pub fn pool(&self) -> Pool {
        match &self.database {
            BoardDatabase::Sqlite(_) => panic!("the database is in SQLite"),
            BoardDatabase::Postgres(database) => database.pool.clone(),
        }
    }

    /// Registers an endpoint for all topics, without which the board writes no events.
    pub async fn add_endpoint(&self) {
        let mut endpoint = test_util::endpoint();
        endpoint.topics = "*,message.sent".parse().unwrap();
        let webhooks = self.webhooks();
        let endpoints = webhooks.endpoints();
        assert!(endpoints.add(&endpoint, &test_util::audit_entry()).await.unwrap());
    }

    /// Creates the demo board.
    pub async fn demo(&self, clock: Arc<dyn Clock>, language: Language) -> ReferenceBoard {
        let board = self.board(clock, language);
        let example = board
            .write(|tx, events| Box::pin(demo::begin(tx, "", false, events.now)))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(example.name, "alice");
        board
    }
}

async fn in_sqlite(location: &DatabasePath, guard: impl Any + Send + Sync) -> Storage {
    let database = BoardDatabase::from(sqlite::Database::open(location).unwrap());
    let storage = Storage { database, _guard: Box::new(guard) };
    create_tables(&storage.database).await;
    storage
}

/// Copies a template, which takes half the time of migrations.
fn in_postgres() -> Storage {
    static TEMPLATE: OnceLock<postgres::Database> = OnceLock::new();
    let database = postgres::Database::copy_of(TEMPLATE.get_or_init(create_template));
    Storage { database: connect(&database.url(), 16).unwrap().into(), _guard: Box::new(database) }
}

fn create_template() -> postgres::Database {
    let template = postgres::Database::new();
    let pool = connect(&template.url(), 1).unwrap();
    postgres::block_on_thread(async move {
        migrate(&pool).await.unwrap();
        create_tables(&pool.into()).await;
    });
    template
}

async fn create_tables(database: &BoardDatabase) {
    let board = ReferenceBoard::new(database.clone(), Arc::new(SystemClock), Language::English);
    board.migrate().await.unwrap();
}
