//! Conformance rules of stores, on each backend.

use std::cmp::Reverse;
use std::pin::Pin;
use std::sync::Arc;

use forum_api::async_trait;
use forum_api::audit::AuditEntry;
use forum_api::conformance::stores::{PendingEventFixture, StoreFactory};
use forum_api::conformance::{Capability, FixtureResult, store_tests};
use forum_api::host::BackendResult;
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::store::{AuditFilter, AuditRecord, AuditStore, Stores, WebhookStores};
use forum_api::test_util::stores_in_memory;
use forum_test_support::postgres::run_with_postgres;
use tempfile::TempDir;

use crate::fixture::{block_on, open};
use crate::pending_events::KeyValueEvents;
use crate::postgres::{stores, tables, webhooks};
use crate::redis::{node, prefix};

type EmptyStores = Pin<Box<dyn Future<Output = (Stores, WebhookStores)> + Send>>;

/// Factory of empty stores in a backend.
struct Backend {
    create: fn(&TempDir) -> EmptyStores,
    unsupported: &'static [Capability],
    directory: TempDir,
}

#[async_trait]
impl StoreFactory for Backend {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        Ok((self.create)(&self.directory).await)
    }

    async fn create_pending_events(&self) -> FixtureResult<Option<Arc<dyn PendingEventFixture>>> {
        Ok(Some(Arc::new(KeyValueEvents::default())))
    }

    fn unsupported(&self) -> &[Capability] {
        self.unsupported
    }
}

/// Returns stores in memory, and stores of webhooks in another database.
fn in_memory() -> (Stores, WebhookStores) {
    let mut stores = Stores::in_memory();
    let (others, webhooks) = stores_in_memory();
    stores.audit = Arc::new(TwoLogs(stores.audit, others.audit));
    (stores, webhooks)
}

/// Lists the entries of two logs. Adds up the counts of an entry that is in both.
struct TwoLogs(Arc<dyn AuditStore>, Arc<dyn AuditStore>);

#[async_trait]
impl AuditStore for TwoLogs {
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()> {
        self.0.insert(entry).await
    }

    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>> {
        let mut records = self.0.list(filter).await?;
        records.extend(self.1.list(filter).await?);
        records.sort_by_cached_key(|AuditRecord { entry, .. }| {
            Reverse((entry.occurred_at, entry.id.to_string()))
        });
        records.dedup_by(|later, former| {
            let is_same = later.entry.id == former.entry.id;
            former.count += if is_same { later.count } else { 0 };
            is_same
        });
        records.truncate(filter.limit as usize);
        Ok(records)
    }
}

fn in_sqlite(database: &Database) -> EmptyStores {
    let webhooks = WebhookStores::in_sqlite(database);
    let stores = (Stores::in_sqlite(database), webhooks);
    Box::pin(async { stores })
}

macro_rules! backends {
    ($($name:ident $unsupported:expr, $run:ident: $create:expr;)+) => {$(
        mod $name {
            use super::*;

            fn backend() -> Backend {
                Backend {
                    create: $create,
                    unsupported: $unsupported,
                    directory: tempfile::tempdir().unwrap(),
                }
            }

            store_tests!(backend(), $run);
        }
    )+};
}

backends! {
    memory &[], block_on: |_| Box::pin(async { in_memory() });
    sqlite_memory &[], block_on: |_| in_sqlite(&Database::open(&DatabasePath::Memory).unwrap());
    sqlite_file &[], block_on: |directory| in_sqlite(&open(directory));
    postgres &[], run_with_postgres: |_| Box::pin(async {
        let pool = tables().await;
        (stores(&pool), webhooks(&pool))
    });
    redis &[Capability::InjectedClock], block_on: |_| Box::pin(async {
        let (mut stores, webhooks) = in_memory();
        stores.rate_limits = Arc::new(node(&prefix()).await);
        (stores, webhooks)
    });
}
