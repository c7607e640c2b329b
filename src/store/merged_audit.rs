//! Audit log whose entries are in several stores.

use std::sync::Arc;

use async_trait::async_trait;

use super::{AuditFilter, AuditRecord, AuditStore};
use crate::audit::AuditEntry;
use crate::error::BackendResult;

/// One audit log whose entries are in several stores, for example of a board whose tokens and webhooks are in different
/// databases.
///
/// ```
/// use std::sync::Arc;
/// use forum_api::store::sqlite::Database;
/// use forum_api::store::{MergedAuditStore, Stores};
///
/// fn stores(tokens: Stores, webhooks: &Database) -> Stores {
///     let webhooks = Stores::in_sqlite(webhooks).audit;
///     let audit = MergedAuditStore::new(tokens.audit, [webhooks]);
///     Stores { audit: Arc::new(audit), ..tokens }
/// }
/// ```
#[derive(Clone)]
pub struct MergedAuditStore {
    first: Arc<dyn AuditStore>,
    others: Vec<Arc<dyn AuditStore>>,
}

impl MergedAuditStore {
    /// Creates a log of the entries of all stores. [`insert`](AuditStore::insert) adds entries to `first`.
    pub fn new(
        first: impl AuditStore,
        others: impl IntoIterator<Item = Arc<dyn AuditStore>>,
    ) -> Self {
        Self {
            first: Arc::new(first),
            others: others.into_iter().collect(),
        }
    }
}

opaque_debug!(MergedAuditStore);

#[async_trait]
impl AuditStore for MergedAuditStore {
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()> {
        self.first.insert(entry).await
    }

    /// Lists the entries of all stores. Adds up the counts of an entry that is in several stores.
    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>> {
        let mut records = self.first.list(filter).await?;
        for store in &self.others {
            records.extend(store.list(filter).await?);
        }
        records.sort_by_cached_key(|record| std::cmp::Reverse(record.entry.sort_key()));
        records.dedup_by(|later, former| {
            let is_same = later.entry.id == former.entry.id;
            if is_same {
                former.count += later.count;
            }
            is_same
        });
        records.truncate(filter.limit as usize);
        Ok(records)
    }
}
