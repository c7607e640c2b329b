//! Stores in Postgres (feature `postgres`), for any number of nodes.
//!
//! Postgres 15 to 18 are supported. The tests run on the oldest and on the newest of these versions.
//!
//! The stores run their statements through a [`PostgresDriver`], so that they use the pool of the host. The feature
//! `tokio-postgres-0_7` implements it for a pool of `deadpool-postgres` (module `tokio_postgres_0_7`). A host with another
//! pool implements it. The feature `postgres` alone depends on no driver.
//!
//! ```no_run
//! # #[cfg(feature = "tokio-postgres-0_7")]
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use forum_api::store::postgres::tokio_postgres_0_7::{connect, migrate};
//! use forum_api::store::{Stores, WebhookStores};
//!
//! let pool = connect("postgres://forum:secret@localhost/forum", 16)?; // or the board's own pool
//! migrate(&pool).await?; // any number of nodes at once
//! let stores = Stores::in_postgres(&pool);
//! let webhooks = WebhookStores::in_postgres(&pool);
//! # drop((stores, webhooks));
//! # Ok(())
//! # }
//! ```
//!
//! Each operation is one statement in its own transaction at the isolation level `READ COMMITTED`. No statement holds a
//! lock while it waits for the program. Statements do not deadlock, and a node can crash at any time. A statement names
//! the columns that it reads, so that a migration that adds columns does not invalidate a prepared statement. At the log
//! level `TRACE` each statement is logged without its parameters.
//!
//! # Sessions
//!
//! A host with its own driver calls [`migrate`] when the program starts. It first calls [`check_session`], which refuses
//! an encoding other than UTF8, another isolation level, and time limits below 10 s. A host whose own migrations create the
//! library's tables adds the [`migration_scripts`] to them, calls [`check_session`] when the program starts, and can compare
//! the tables with [`schema_status`].
//!
//! Behind PgBouncer in transaction mode, the driver needs prepared statements, which PgBouncer supports from version 1.21 on
//! (`max_prepared_statements` above 0). [`migrate`] does not check this for a host's own driver; the module
//! `tokio_postgres_0_7` has a check and describes the settings.
//!
//! # Tables
//!
//! - Times are milliseconds since 1970-01-01T00:00:00Z; scopes and topics are JSON arrays. The topic `*` means all topics
//!   except `message.sent` and `ping`.
//! - A row of `forum_api_idempotency_keys` with `ended` set and `status` null has an unknown outcome.
//! - `forum_api_events` is the outbox. A host inserts events in its own transactions, with
//!   [`Event::INSERT_SQL`](crate::webhook::Event::INSERT_SQL) and any driver. An event is pending while `fanned_out_at` and
//!   `quarantine_reason` are null. It is deleted when it has no delivery and is not `in_feed`: with its last delivery, or
//!   when it leaves the feed (`event_retention` after the fan-out). If an erasure removes an event of the feed, the row stays
//!   until it leaves the feed, with the topic `ping` and the body `{}`.
//! - A delivery is pending while `due_at` is set: the time of its next attempt or, while `leased`, the end of its
//!   lease. `due_set_at` is the time from which `due_at` was computed. `sending` is set from the start of an attempt until
//!   it is settled. `ended_at` is the time at which the delivery was delivered, gone or withheld. All queries ignore
//!   deliveries without an endpoint row; the sweep deletes them.
//! - The clock of Postgres decides leases, due times, ages and the expiry of idempotency keys ([`LeaseClock`]).
//! - Tables whose rows change often have a fill factor below 100 and are vacuumed after few changes.
//!
//! ```sql
#![doc = include_str!("migrations/0001_init.sql")]
//! ```

mod audit;
mod check;
mod claim;
mod deliveries;
mod driver;
mod error;
mod execute;
mod executor;
mod migrate;
#[cfg(feature = "tokio-postgres-0_7")]
pub mod tokio_postgres_0_7;

pub use check::check_session;
pub use driver::{Parameter, PostgresDriver, RowReader};
pub use error::PostgresError;
pub use execute::{LeaseClock, limit_wait};
pub use migrate::{migrate, migration_scripts, schema_status};

use super::Migrations;
use super::migrations::migrations;
pub use super::sql::{Columns, read_token};
pub use crate::driver_error::{ColumnError, DatabaseError};

/// Migrations of the library's tables.
pub const MIGRATIONS: Migrations = migrations!("migrations": "0001_init");
