//! Trait of audit stores.

use async_trait::async_trait;

use crate::audit::{AuditAction, AuditEntry};
use crate::error::{BackendResult, ParseError};
use crate::model::{AuditEntryId, Timestamp, UserId};

/// Stored entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// The entry.
    pub entry: AuditEntry,
    /// Number of records that the change affected, at least 1.
    pub count: u64,
}

impl AuditRecord {
    /// Encodes the record for a key-value store. Later versions of the library decode these bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let texts = self.entry.insert_parameters(self.count);
        serde_json::json!(texts).to_string().into_bytes()
    }

    /// Decodes the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`ParseError`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        let texts = serde_json::from_slice(bytes)
            .map_err(|_| ParseError::new("the bytes of a record of the audit log"))?;
        let (entry, count) = AuditEntry::from_insert_parameters(texts)?;
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
        Self {
            id: None,
            actor: None,
            action: None,
            target: None,
            after: None,
            limit: 100,
        }
    }
}

/// Stores the audit log. Entries are not removed.
///
/// The stores in one database share a log. [`MergedAuditStore`](super::MergedAuditStore) combines the logs of several
/// databases. Methods of stores that take an [`AuditEntry`] write it in the transaction of the
/// change, with the number of affected records, and do not write it if they change nothing.
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

    /// Lists entries, newest first. Entries with the same time are in descending order of the bytes of their ids. Omits entries that cannot be decoded.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn list(&self, filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>>;
}

impl_for_pointers!(AuditStore {
    async fn insert(entry: &AuditEntry) -> BackendResult<()>;
    async fn list(filter: &AuditFilter) -> BackendResult<Vec<AuditRecord>>;
});
