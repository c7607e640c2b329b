//! Stores in Postgres (feature `postgres`), for any number of nodes, through a pool of tokio-postgres connections.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use forum_api::store::postgres::{connect, migrate};
//! use forum_api::store::{Stores, Webhooks};
//!
//! let pool = connect("postgres://forum:secret@localhost/forum", 16)?; // or the board's own pool
//! migrate(&pool).await?; // any number of nodes at once
//! let stores = Stores::in_postgres(&pool);
//! let webhooks = Webhooks::in_postgres(&pool);
//! # drop((stores, webhooks));
//! # Ok(())
//! # }
//! ```
//!
//! Any pool of deadpool-postgres can be used; bound its waits as [`connect`] does, and set its recycling method to
//! `Fast`. The errors of both crates turn into [`Fault`](crate::store::Fault) and
//! [`BoardError::Failed`](crate::host::BoardError::Failed) by `?`, as one sentence without values, and
//! [`Timestamp`], the library's ids, [`Lookup`](crate::token::Lookup) and
//! [`Digest`](crate::token::Digest) can be bound and read, so that a host can keep tokens in its own tables.
//! `examples/existing_board` is a board that shares its pool.
//!
//! Every operation is one statement, prepared once a connection, and a transaction of its own at the level
//! `READ COMMITTED`, which has to be the default. No statement holds a lock while it waits for the program, and statements
//! do not deadlock; a node may die at any instruction. Where the level `TRACE` is enabled, the log shows each statement
//! without its parameters.
//!
//! # PgBouncer
//!
//! In transaction mode PgBouncer has to support prepared statements: version 1.21 or later, with
//! `max_prepared_statements` set. It refuses the startup parameter `options` of [`connect`], unless
//! `ignore_startup_parameters = options` drops it; then set `statement_timeout` (`ALTER ROLE forum SET statement_timeout =
//! '10s'`) and `idle_in_transaction_session_timeout` for the role. The lock of [`migrate`] ends with its transaction, so it
//! works through PgBouncer as well.
//!
//! # Tables
//!
//! Times are milliseconds since 1970-01-01T00:00:00Z; scopes are a JSON array; the outcome of an `Idempotency-Key` that has
//! ended without a status is unknown. Tables whose rows change often have a fill factor below 100, and are vacuumed when a
//! small part of their rows has changed.
//!
//! `forum_api_events` is the outbox, into which a host writes in its own transactions with
//! [`Event::INSERT`](crate::webhook::Event::INSERT) and any driver. An event waits while `fanned_out_at` and
//! `quarantine_reason` are null, and is deleted with its last delivery. An endpoint's topics are a JSON array; `*` means all
//! topics except `message.sent`. A delivery is pending while `due_at` is set: the time of its next attempt or, while
//! `leased`, the end of its `lease`. `sending` is set while an attempt has begun that is not settled, and `ended_at` is the
//! time when it was delivered, gone or withheld. Rows whose endpoint was removed count as removed.
//!
//! Postgres's clock decides leases and due times ([`LeaseClock`]).
//!
//! ```sql
#![doc = include_str!("migrations/0001_init.sql")]
//! ```

mod claim;
mod deliveries;
mod endpoints;
mod error;
mod execute;
mod idempotency;
mod migrations;
mod outbox;
mod pool;
mod tokens;
mod types;

use std::sync::Arc;

pub use deadpool_postgres;
use deadpool_postgres::Pool;
pub use error::PostgresError;
pub use migrations::{apply_migrations, migrate, migration_status, schema_status};
pub use pool::{check_writable, connect};
pub use tokio_postgres;

use super::{Stores, WebhookStores};
use crate::model::Timestamp;

/// Tokens, idempotency keys and webhooks in the library's tables, through a pool of connections that a host may share.
/// Each operation is one statement.
#[derive(Clone)]
pub struct PostgresStore {
    pool: Pool,
    clock: LeaseClock,
}

/// Clock that decides leases and due times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseClock {
    /// Postgres's own (`clock_timestamp()`), one for all nodes: only differences between a node's times count.
    #[default]
    Database,
    /// The caller's, for tests with a manual clock.
    Caller,
}

impl LeaseClock {
    /// The parameter of a statement: null for Postgres's clock.
    fn time(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Database => None,
            Self::Caller => Some(now),
        }
    }
}

impl PostgresStore {
    /// Stores in the database of `pool`, whose tables [`migrate`] has created. Postgres's clock decides leases and due
    /// times.
    pub const fn new(pool: Pool) -> Self {
        Self {
            pool,
            clock: LeaseClock::Database,
        }
    }

    /// Sets the clock that decides leases and due times. Default: [`LeaseClock::Database`].
    #[must_use]
    pub fn lease_clock(self, clock: LeaseClock) -> Self {
        Self { clock, ..self }
    }
}

opaque_debug!(PostgresStore);

impl Stores {
    /// Tokens and idempotency keys in the database of `pool`, for any number of nodes; budgets in the memory of each node
    /// (feature `postgres`).
    pub fn in_postgres(pool: &Pool) -> Self {
        let postgres = Arc::new(PostgresStore::new(pool.clone()));
        Self {
            tokens: postgres.clone(),
            idempotency: postgres,
            ..Self::in_memory()
        }
    }
}

impl WebhookStores {
    /// Webhooks in the database of `pool`, for any number of nodes and workers (feature `postgres`).
    pub fn in_postgres(pool: &Pool) -> Self {
        Self::from_store(PostgresStore::new(pool.clone()))
    }
}
