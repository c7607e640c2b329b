//! The store of all resources.

use std::sync::Arc;

use deadpool_postgres::Pool;

use crate::model::Timestamp;
use crate::store::{Stores, WebhookStores};

/// Tokens, idempotency keys, usage, webhooks and the audit log in the library's tables, through a pool of connections that
/// a host can share.
#[derive(Clone)]
pub struct PostgresStore {
    pub(super) pool: Pool,
    pub(super) clock: LeaseClock,
}

/// Clock that decides leases, due times and the expiry of idempotency keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseClock {
    /// The clock of Postgres (`clock_timestamp()`). Only the differences between a node's times are used.
    #[default]
    Database,
    /// The caller's clock, for tests with a manual clock.
    Caller,
}

impl LeaseClock {
    /// Returns the parameter of a statement: null for the clock of Postgres.
    pub(super) fn time(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Database => None,
            Self::Caller => Some(now),
        }
    }
}

impl PostgresStore {
    /// Creates a store in the database of `pool`, whose tables [`migrate`](super::migrate) has created.
    pub const fn new(pool: Pool) -> Self {
        Self {
            pool,
            clock: LeaseClock::Database,
        }
    }

    /// Sets the clock of leases, due times and idempotency keys. Default: [`LeaseClock::Database`].
    #[must_use]
    pub fn lease_clock(self, clock: LeaseClock) -> Self {
        Self { clock, ..self }
    }
}

opaque_debug!(PostgresStore);

impl Stores {
    /// Creates stores of tokens, idempotency keys, usage and the audit log in the database of `pool`, for any number of
    /// nodes (feature `postgres`). Rate limits are in the memory of each node: `n` nodes grant up to `n` budgets.
    pub fn in_postgres(pool: &Pool) -> Self {
        let postgres = Arc::new(PostgresStore::new(pool.clone()));
        Self {
            tokens: postgres.clone(),
            idempotency: postgres.clone(),
            audit: postgres.clone(),
            usage: postgres,
            ..Self::in_memory()
        }
    }
}

impl WebhookStores {
    /// Creates stores of webhooks in the database of `pool`, for any number of nodes and workers (feature `postgres`).
    pub fn in_postgres(pool: &Pool) -> Self {
        Self::from_store(PostgresStore::new(pool.clone()))
    }
}
