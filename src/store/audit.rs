//! Trait of audit stores.

use async_trait::async_trait;

use crate::audit::{AuditAction, AuditEntry};
use crate::error::BackendResult;
use crate::model::UserId;

/// Stored entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Number of the entry. Later entries have greater numbers.
    pub number: i64,
    /// The entry.
    pub entry: AuditEntry,
    /// Number of records that the change affected, at least 1.
    pub count: u64,
}

/// Filter of [`AuditStore::list`]. A field that is `None` does not restrict the list.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only changes by this member.
    pub actor: Option<UserId>,
    /// Only changes of this kind.
    pub action: Option<AuditAction>,
    /// Only changes of this target.
    pub target: Option<String>,
    /// Only entries with a smaller number than this one. For the next page, pass the number of the last entry of the
    /// previous page.
    pub after: Option<i64>,
    /// Maximum number of entries. The default of 0 lists none.
    pub limit: u32,
}

/// Stores the audit log. Entries are not removed.
///
/// The stores in one database share a log. Their methods that take an [`AuditEntry`] write it in the transaction of the
/// change, with the number of affected records, and do not write it if they change nothing.
#[async_trait]
pub trait AuditStore: Send + Sync + 'static {
    /// Adds an entry of a change outside of the library's stores. If the log contains an entry with this id, increments its
    /// count instead.
    ///
    /// A host with SQL transactions runs [`AuditEntry::INSERT_SQL`] in the transaction of the change instead.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()>;

    /// Lists entries, newest first. Omits entries that cannot be decoded.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>>;
}

impl_for_pointers!(AuditStore {
    async fn insert(entry: &AuditEntry) -> BackendResult<()>;
    async fn list(filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>>;
});
