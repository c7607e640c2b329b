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
    /// Adds the entry of a change of `count` records; changes nothing for 0. If the log has the entry, because
    /// the change has several batches, adds `count` to it.
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
