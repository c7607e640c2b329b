//! Stores over tokio-postgres and deadpool.

mod connect;
mod error;
mod idempotency;
mod run;
mod tokens;
mod values;
mod webhooks;

use std::sync::Arc;

use deadpool_postgres::Pool;

pub use connect::{check_writable, connect, migrate, schema_status};
pub use error::PostgresError;

use crate::store::postgres::LeaseClock;
use crate::store::{Stores, Webhooks};

/// Tokens, first answers and webhooks in the library's tables, through a pool of connections, which a host may share.
/// Each operation is one statement.
#[derive(Clone)]
pub struct Postgres {
    pool: Pool,
    clock: LeaseClock,
}

impl Postgres {
    /// All in the database behind `pool`, whose tables [`migrate`] has made. Postgres's clock decides leases and due times.
    pub const fn new(pool: Pool) -> Self {
        Self {
            pool,
            clock: LeaseClock::Database,
        }
    }

    /// Lets this clock decide leases and due times. Default: [`LeaseClock::Database`].
    #[must_use]
    pub fn lease_clock(self, clock: LeaseClock) -> Self {
        Self { clock, ..self }
    }
}

opaque_debug!(Postgres);

impl Stores {
    /// Tokens and first answers in the database behind `pool`, for any number of nodes; budgets in memory, a node's own
    /// (feature `postgres`).
    pub fn in_postgres(pool: &Pool) -> Self {
        let postgres = Arc::new(Postgres::new(pool.clone()));
        Self {
            tokens: postgres.clone(),
            idempotency: postgres,
            ..Self::in_memory()
        }
    }
}

impl Webhooks {
    /// All in the database behind `pool`, for any number of nodes and workers (feature `postgres`).
    pub fn in_postgres(pool: &Pool) -> Self {
        Self::in_one(Postgres::new(pool.clone()))
    }
}
