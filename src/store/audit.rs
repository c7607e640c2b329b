//! Trait of audit stores.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::audit::{AuditAction, AuditEntry};
use crate::error::{BackendResult, ParseError};
use crate::model::{AuditEntryId, Timestamp, UserId};

/// Stored entry of the audit log. A key-value store serializes the record. Later versions of the library deserialize
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[String; 10]", into = "[String; 10]")]
pub struct AuditRecord {
    /// The entry.
    pub entry: AuditEntry,
    /// Number of records that the change affected, at least 1.
    pub count: u64,
}

impl From<AuditRecord> for [String; 10] {
    fn from(record: AuditRecord) -> Self {
        record.entry.to_texts(record.count)
    }
}

impl TryFrom<[String; 10]> for AuditRecord {
    type Error = ParseError;

    fn try_from(texts: [String; 10]) -> Result<Self, ParseError> {
        let (entry, count) = AuditEntry::from_texts(texts)?;
        Ok(Self { entry, count })
    }
}

/// Filter of [`AuditStore::list`]. A field that is `None` does not restrict the list.
#[derive(Clone, Debug)]
pub struct AuditFilter {
    /// Only the entry with this id.
    pub id: Option<AuditEntryId>,
    /// Only changes by this member.
    pub actor: Option<UserId>,
    /// Only changes of this kind.
    pub action: Option<AuditAction>,
    /// Only changes of this target.
    pub target: Option<String>,
    /// Only entries after this position of the list: time and id of the last entry of the previous page.
    pub after: Option<(Timestamp, AuditEntryId)>,
    /// Maximum number of entries. Default: 100.
    pub limit: u32,
}

impl Default for AuditFilter {
    fn default() -> Self {
        Self { id: None, actor: None, action: None, target: None, after: None, limit: 100 }
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

/// Stores the audit log. Entries are not removed.
///
/// The stores in one database share a log. Methods of stores that take an [`AuditEntry`] write it in the transaction of
/// the change, with the number of affected records, and do not write it if they change nothing.
#[async_trait]
pub trait AuditStore: Send + Sync + 'static {
    /// Adds an entry of a change outside of the library's stores. If the log contains an entry with this id, increments its
    /// count instead.
    ///
    /// A host with SQL transactions runs [`AuditEntry::INSERT_SQL`] in the transaction of the change instead.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn insert(&self, entry: &AuditEntry) -> BackendResult<()>;

    /// Lists entries, newest first. Entries with the same time are in descending order of the bytes of their ids. Omits
    /// entries that cannot be decoded.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>>;
}

impl_for_pointers!(AuditStore {
    async fn insert(entry: &AuditEntry) -> BackendResult<()>;
    async fn list(filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>>;
});
