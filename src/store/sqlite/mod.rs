//! Stores in SQLite (feature `sqlite`), and the [`Database`] that the stores share with a host.
//!
//! # Tables
//!
//! The tables are in the host's database or in a separate one, and their names begin with `forum_api_`. [`Database::open`]
//! creates and migrates them; [`Database::open_unmigrated`] does not. `forum_api_migrations` records the applied migrations.
//!
//! - Times are milliseconds since 1970-01-01T00:00:00Z; scopes and topics are JSON arrays. The topic `*` means all topics
//!   except `message.sent` and `ping`.
//! - A row of `forum_api_idempotency_keys` with `ended` set and `status` null has an unknown outcome.
//! - `forum_api_events` is the outbox. A host inserts events in its own transactions, with
//!   [`Event::INSERT_SQL`](crate::webhook::Event::INSERT_SQL) or another statement: later versions only add optional columns. An
//!   event is pending while `fanned_out_at` and `quarantine_reason` are null. It is deleted when it has no delivery and is not
//!   `in_feed`: with its last delivery, or when it leaves the feed (`event_retention` after the fan-out). If an erasure
//!   removes an event of the feed, the row stays until it leaves the feed, with the topic `ping` and the body `{}`.
//! - A delivery is pending while `due_at` is set: the time of its next attempt or, while `leased`, the end of its
//!   lease. `due_set_at` is the time from which `due_at` was computed. `sending` is set from the start of an attempt until
//!   it is settled. `ended_at` is the time at which the delivery was delivered, gone or withheld. All queries ignore
//!   deliveries without an endpoint row; the sweep deletes them.
//!
//! ```sql
#![doc = include_str!("migrations/0001_init.sql")]
//! ```
//!
//! Hosts with another driver use the schema and the statements of [`sqlite_schema`](crate::store::sqlite_schema).
//!
//! # Logging
//!
//! With the feature `sqlite-trace`, if the log level `TRACE` is enabled when a database is opened, each statement is logged
//! without its parameters.
//!
//! # Hosts on `rusqlite`
//!
//! A database file has one writer at a time. If a host writes through the same [`Database`], its writes are committed
//! together with the library's: up to 64 waiting writes cost one `fsync`. [`apply_migrations`] applies the host's migrations.
//! `?` converts `rusqlite::Error` and [`SqliteError`] to [`BoardError::Internal`](crate::host::BoardError::Internal)
//! and [`BackendError`](crate::host::BackendError).
//!
//! ```
//! use forum_api::host::BoardError;
//! use forum_api::store::sqlite::{Database, DatabasePath, apply_migrations};
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
//! let database = Database::open(&DatabasePath::Memory)?;
//! let id = database
//!     .write::<_, BoardError>(|savepoint| {
//!         apply_migrations(savepoint, &MIGRATIONS)?;
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
mod columns;
mod deliveries;
mod execute;
mod executor;
mod idempotency;
mod migrations;
mod outbox;
mod pool;
mod times;
mod types;
mod usage;
mod webhook_key;

pub use columns::read_token;
use executor::SqliteExecutor;
pub use migrations::{apply_migrations, migration_status};
pub use pool::{Database, DatabasePath, DatabaseSettings, SqliteError};
pub use rusqlite;
