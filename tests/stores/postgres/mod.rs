//! The rules in Postgres, and what its stores promise beside.

#[path = "../../support/postgres.rs"]
mod database;

use std::sync::Arc;

use forum_api::async_trait;
use forum_api::clock::{Runtime, TokioRuntime};
use forum_api::conformance::{Set, store_tests, stores::Keeper};
use forum_api::store::postgres::deadpool_postgres::Pool;
use forum_api::store::postgres::migrate;
use forum_api::store::{Stores, Webhooks};

use database::{pool, schema, try_in_postgres};

/// Keeps each rule's stores in a schema of their own.
struct Schemas;

#[async_trait]
impl Keeper for Schemas {
    async fn empty(&self) -> Set<(Stores, Webhooks)> {
        let pool = tables().await;
        Ok((Stores::in_postgres(&pool), Webhooks::in_postgres(&pool)))
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

store_tests!(Schemas, try_in_postgres);

/// A few connections to empty tables.
async fn tables() -> Pool {
    let pool = pool(&schema().await, 16);
    migrate(&pool).await.unwrap();
    pool
}
