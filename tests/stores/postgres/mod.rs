//! Guarantees of Postgres in addition to the conformance rules.

mod clock;
mod concurrency;
mod migrations;
mod plans;
mod tls;
mod unreachable;

use std::sync::Arc;

pub(crate) use forum_api::store::postgres::deadpool_postgres::Pool;
use forum_api::store::postgres::{LeaseClock, PostgresStore, migrate};
use forum_api::store::{Stores, WebhookStores};
use forum_test_support::postgres::{pool, schema};

/// Returns stores whose idempotency keys use the times that a test passes.
pub(crate) fn stores(pool: &Pool) -> Stores {
    Stores {
        idempotency: Arc::new(with_clock_of_caller(pool)),
        ..Stores::in_postgres(pool)
    }
}

/// Returns stores whose leases use the times that a test passes.
pub(crate) fn webhooks(pool: &Pool) -> WebhookStores {
    WebhookStores::from_store(with_clock_of_caller(pool))
}

fn with_clock_of_caller(pool: &Pool) -> PostgresStore {
    PostgresStore::new(pool.clone()).lease_clock(LeaseClock::Caller)
}

/// Returns a pool of connections to empty tables.
pub(crate) async fn tables() -> Pool {
    let pool = pool(&schema().await, 16);
    migrate(&pool).await.unwrap();
    pool
}
