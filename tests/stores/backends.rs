//! The conformance rules of stores, on each backend.

use std::pin::Pin;
use std::sync::Arc;

use forum_api::async_trait;
use forum_api::conformance::{Capability, FixtureResult, store_tests, stores::StoreFactory};
use forum_api::runtime::{Runtime, TokioRuntime};
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::store::{Stores, WebhookStores};
use forum_test_support::postgres::run_with_postgres;
use tempfile::TempDir;

use crate::fixture::open;
use crate::postgres::{tables, webhooks};
use crate::redis::{node, prefix, try_in_redis};

type Empty = Pin<Box<dyn Future<Output = (Stores, WebhookStores)> + Send>>;

/// A backend that creates empty stores.
struct Backend {
    empty: fn(&TempDir) -> Empty,
    lacks: &'static [Capability],
    directory: TempDir,
}

#[async_trait]
impl StoreFactory for Backend {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        Ok((self.empty)(&self.directory).await)
    }

    fn unsupported(&self) -> &[Capability] {
        self.lacks
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

fn backend(lacks: &'static [Capability], empty: fn(&TempDir) -> Empty) -> Backend {
    let directory = tempfile::tempdir().unwrap();
    Backend {
        empty,
        lacks,
        directory,
    }
}

fn block_on(case: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().unwrap().block_on(case);
}

fn in_sqlite(database: &Database) -> Empty {
    let stores = (
        Stores::in_sqlite(database),
        WebhookStores::in_sqlite(database),
    );
    Box::pin(async { stores })
}

mod memory {
    use super::*;

    store_tests!(
        backend(&[], |_| Box::pin(async {
            (Stores::in_memory(), WebhookStores::in_memory())
        })),
        block_on
    );
}

mod sqlite_memory {
    use super::*;

    store_tests!(
        backend(&[], |_| in_sqlite(
            &Database::open(&DatabasePath::Memory).unwrap()
        )),
        block_on
    );
}

mod sqlite_file {
    use super::*;

    store_tests!(
        backend(&[], |directory| in_sqlite(&open(directory))),
        block_on
    );
}

mod postgres {
    use super::*;

    store_tests!(
        backend(&[], |_| Box::pin(async {
            let pool = tables().await;
            (Stores::in_postgres(&pool), webhooks(&pool))
        })),
        run_with_postgres
    );
}

mod redis {
    use super::*;

    store_tests!(
        backend(&[Capability::SuiteClock], |_| Box::pin(async {
            let stores = Stores {
                rate_limits: Arc::new(node(&prefix()).await),
                ..Stores::in_memory()
            };
            (stores, WebhookStores::in_memory())
        })),
        try_in_redis
    );
}
