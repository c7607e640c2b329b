//! Stores in SQLite (feature `sqlite`), and the [`Database`] below them, which a host may share.
//!
//! # Tables
//!
//! They live in the host's own database, or in one of their own, and begin with `forum_api_`. [`Database::open`] creates
//! and migrates them; [`Database::open_unmigrated`] does not. `forum_api_migrations` records the applied migrations. Times are milliseconds since 1970-01-01T00:00:00Z; scopes are a JSON array; the outcome of an
//! `Idempotency-Key` that has ended without a status is unknown.
//!
//! `forum_api_events` is the outbox, into which a host may write by itself, with
//! [`Event::INSERT`](crate::webhook::Event::INSERT) or a statement of its own: it stays as it is, and what is added
//! can be left out. An event waits while `fanned_out_at` and `quarantine_reason` are null, and goes with its last delivery.
//! An endpoint's topics are a JSON array; `*` means all topics except `message.sent`. A delivery is pending while `due_at` is
//! set: the time of its next attempt or, while `leased`, the end of its `lease`. `sending` is set while an attempt has begun
//! that is not settled, and `ended_at` is the time when it was delivered, gone or withheld. Rows whose endpoint was removed
//! count as removed.
//!
//! ```sql
#![doc = include_str!("migrations/0001_init.sql")]
//! ```
//!
//! # What it runs
//!
//! Where the level `TRACE` is enabled when a database is opened, the log shows each statement as it is written in the
//! source, without what is bound to it.
//!
//! # A host on rusqlite
//!
//! One file has one writer at a time. A host that runs its own commands through the same [`Database`] has them
//! committed together with whatever else waits, which is what makes durable writes cheap: 64 of them cost one
//! `fsync`. [`migrate`] keeps its schema as it keeps this one. Both `rusqlite::Error` and [`SqliteError`] turn into
//! [`BoardError::Failed`](crate::host::BoardError::Failed) and [`Fault`](crate::store::Fault) by `?`.
//!
//! ```
//! use forum_api::host::BoardError;
//! use forum_api::store::sqlite::{Database, Location, migrate};
//! use forum_api::store::{Migration, Migrations};
//!
//! const MIGRATIONS: Migrations = Migrations {
//!     table: "board_migrations",
//!     all: &[Migration {
//!         name: "0001_init",
//!         sql: "CREATE TABLE forums (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT",
//!     }],
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoardError> {
//! let database = Database::open(&Location::Memory)?;
//! let id = database
//!     .write::<_, BoardError>(|savepoint| {
//!         migrate(savepoint, &MIGRATIONS)?;
//!         savepoint.execute("INSERT INTO forums (title) VALUES (?1)", ["General"])?;
//!         Ok(savepoint.last_insert_rowid())
//!     })
//!     .await?;
//! let title: String = database
//!     .read::<_, BoardError>(move |connection| {
//!         let mut forum = connection.prepare_cached("SELECT title FROM forums WHERE id = ?1")?;
//!         Ok(forum.query_row([id], |row| row.get(0))?)
//!     })
//!     .await?;
//! assert_eq!(title, "General");
//! # Ok(())
//! # }
//! ```

mod claim;
mod deliveries;
mod endpoints;
mod execute;
mod idempotency;
mod lists;
mod migrations;
mod outbox;
mod pool;
#[cfg(test)]
mod query_plans;
mod tokens;
mod types;

use std::sync::Arc;

pub use idempotency::SqliteIdempotencyStore;
pub use migrations::{migrate, schema_status};
pub use outbox::SqliteWebhookStore;
pub use pool::{Database, DatabasePath, DatabaseSettings, SqliteError};
pub use rusqlite;
pub use tokens::SqliteTokenStore;

use super::{Stores, WebhookStores};

impl Stores {
    /// Tokens and idempotency keys in `database`, budgets in memory: for one node (feature `sqlite`).
    pub fn in_sqlite(database: &Database) -> Self {
        Self {
            tokens: Arc::new(SqliteTokenStore::new(database.clone())),
            idempotency: Arc::new(SqliteIdempotencyStore::new(database.clone())),
            ..Self::in_memory()
        }
    }
}

impl WebhookStores {
    /// Webhooks in `database` (feature `sqlite`).
    pub fn in_sqlite(database: &Database) -> Self {
        Self::from_store(SqliteWebhookStore::new(database.clone()))
    }
}
