//! Stores in Postgres (feature `postgres`), for any number of nodes, through a pool of `tokio-postgres` connections.
//!
//! Postgres 15 to 18 are supported. The tests run on the oldest and on the newest of these versions.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use forum_api::store::postgres::{connect, migrate};
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
//! Any pool of `deadpool-postgres` can be used. Set timeouts as [`connect`] does, and the recycling method `Fast`; only pools
//! of [`connect`] check that connections respond, and limit the time for each of several hosts. After a failed statement of
//! its own, a host passes the connection to [`close_if_lost`].
//!
//! `?` converts the errors of both crates to [`BackendError`](crate::host::BackendError) and
//! [`BoardError::Internal`](crate::host::BoardError::Internal), which print as one sentence without values.
//! [`Timestamp`](crate::model::Timestamp), the library's ids, [`Lookup`](crate::token::Lookup) and
//! [`SecretDigest`](crate::token::SecretDigest) can be bound and read, so that a host can store tokens in its own tables.
//! `examples/existing_board` is a board that shares its pool.
//!
//! Each operation is one statement, prepared once for each connection, in its own transaction at the isolation level
//! `READ COMMITTED`, the default of a connection of [`connect`]; [`migrate`] refuses a pool with another default. No
//! statement holds a lock while it waits for the program. Statements do not deadlock, and a node can crash at any time.
//! At the log level `TRACE` each statement is logged without its parameters.
//!
//! # PgBouncer
//!
//! The library runs behind PgBouncer 1.21 or later in transaction mode, with `max_prepared_statements` above 0, and in
//! session mode with a `pool_size` of at least the sum of the connections of all processes. [`migrate`] calls
//! [`check_pooler`], which refuses other configurations. [`connect`] sends no start-up options of its own, and sets its
//! limits with a statement. In transaction mode this statement reaches only one of the shared sessions: limit all
//! statements with a default of the role (`ALTER ROLE forum SET statement_timeout = '10s'`), or each transaction with
//! `SET LOCAL`. [`migrate`] works through PgBouncer, because its lock ends with its transaction.
//!
//! # Tables
//!
//! - Times are milliseconds since 1970-01-01T00:00:00Z; scopes and topics are JSON arrays. The topic `*` means all topics
//!   except `message.sent` and `ping`.
//! - A row of `forum_api_idempotency_keys` with `ended` set and `status` null has an unknown outcome.
//! - `forum_api_events` is the outbox. A host inserts events in its own transactions, with
//!   [`Event::INSERT_SQL`](crate::webhook::Event::INSERT_SQL) and any driver. An event is pending while `fanned_out_at` and
//!   `quarantine_reason` are null, and is deleted with its last delivery.
//! - A delivery is pending while `due_at` is set: the time of its next attempt or, while `leased`, the end of its
//!   lease. `sending` is set from the start of an attempt until it is settled. `ended_at` is the time at which the
//!   delivery was delivered, gone or withheld. All queries ignore deliveries without an endpoint row; the sweep deletes
//!   them.
//! - The clock of Postgres decides leases, due times and the expiry of idempotency keys ([`LeaseClock`]).
//! - Tables whose rows change often have a fill factor below 100 and are vacuumed after few changes.
//!
//! ```sql
#![doc = include_str!("migrations/0001_init.sql")]
//! ```

mod audit;
mod claim;
mod columns;
mod deliveries;
mod error;
mod execute;
mod executor;
mod hosts;
mod migrations;
mod pool;
mod pooler;
mod session;
mod tls;
mod types;

pub use columns::read_token;
pub use deadpool_postgres;
pub use error::PostgresError;
pub(crate) use error::{describe_db_error, describe_error};
pub use execute::LeaseClock;
pub use migrations::{MIGRATIONS, apply_migrations, migrate, migration_status, schema_status};
#[doc(hidden)]
pub use pool::forget_if_outdated;
pub use pool::{check_writable, close_if_lost, connect, limit_wait};
pub use pooler::check_pooler;
pub use tokio_postgres;
