//! Audit store.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::lock::lock;
use crate::store::{AuditFilter, AuditRecord, AuditStore};

/// Audit log in a vector, oldest first. Clones share the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryAuditStore(Arc<Mutex<Vec<AuditRecord>>>);

impl MemoryAuditStore {
    /// Adds the entry of a change of `count` records; changes nothing for 0.
    pub(super) fn record(&self, entry: &AuditEntry, count: u64) {
        if count == 0 {
            return;
        }
        let mut log = lock(&self.0);
        match log.iter_mut().rev().find(|one| one.entry.id == entry.id) {
            Some(stored) => stored.count += count,
            None => {
                let entry = entry.clone().into_stored();
                let key = entry.sort_key();
                let position = log.partition_point(|one| one.entry.sort_key() < key);
                log.insert(position, AuditRecord { entry, count });
            }
        }
    }
}

#[async_trait]
impl AuditStore for MemoryAuditStore {
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()> {
        self.record(entry, 1);
        Ok(())
    }

    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>> {
        let log = lock(&self.0);
        let listed = log.iter().rev().filter(|record| filter.selects(record));
        Ok(listed.take(filter.limit as usize).cloned().collect())
    }
}

impl AuditFilter {
    /// Returns `true` if the filter selects the record, for stores without a query language. The store applies the order
    /// and the limit.
    pub fn selects(&self, AuditRecord { entry, .. }: &AuditRecord) -> bool {
        let actor = entry.actor.user_id.as_ref();
        let after = self.after.as_ref();
        after.is_none_or(|(at, id)| entry.sort_key() < (*at, id.to_string()))
            && self.id.as_ref().is_none_or(|one| *one == entry.id)
            && self.actor.as_ref().is_none_or(|one| Some(one) == actor)
            && self.action.as_ref().is_none_or(|one| *one == entry.action)
            && self.target.as_ref().is_none_or(|one| *one == entry.target)
    }
}
