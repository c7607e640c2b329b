//! Guarantees of Postgres in addition to the conformance rules.

mod clock;
mod concurrency;
mod migrations;
mod plans;
mod session;
mod tls;
mod unreachable;

use forum_api::store::postgres::LeaseClock;
pub(crate) use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::Pool;
use forum_api::store::postgres::tokio_postgres_0_7::migrate;
use forum_api::store::{Stores, WebhookStores};
use forum_test_support::postgres::{pool, schema};

/// Returns stores whose idempotency keys use the times that a test passes.
pub(crate) fn stores(pool: &Pool) -> Stores {
    Stores::in_postgres_with(pool, LeaseClock::Caller)
}

/// Returns stores whose leases use the times that a test passes.
pub(crate) fn webhooks(pool: &Pool) -> WebhookStores {
    WebhookStores::in_postgres_with(pool, LeaseClock::Caller)
}

/// Returns a pool of connections to empty tables.
pub(crate) async fn tables() -> Pool {
    let pool = pool(&schema().await, 16);
    migrate(&pool).await.unwrap();
    pool
}
