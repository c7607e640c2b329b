//! Trait of token stores.

use async_trait::async_trait;

use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::token::{Lookup, TokenRecord};

/// Stores token records. No method reverts a revocation.
///
/// A method that takes an [`AuditEntry`] writes it to the [audit log](super::AuditStore) in the transaction of its change.
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    /// Adds a token. Returns `false`, and changes nothing, if its lookup exists.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn create(&self, token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool>;

    /// Returns the token with this lookup; `None` if it does not exist.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails or the record cannot be decoded.
    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>>;

    /// Revokes a token. Returns `false` if it does not exist. A second revocation changes nothing and writes no entry.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails. The token may be revoked.
    async fn revoke(
        &self,
        lookup: &Lookup,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool>;

    /// Records a use, unless the last recorded use is less than [`TokenRecord::LAST_USED_RESOLUTION`] ago.
    ///
    /// May return before the record is durable: the time of the last use is only informative.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails. The library logs it and serves the request.
    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()>;

    /// Lists up to `limit` tokens, newest first; tokens with the same creation time in descending order of their lookups.
    ///
    /// The list begins after the token with the creation time and lookup `after`, which need not exist; `None` for the
    /// beginning.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails or a record cannot be decoded.
    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> BackendResult<Vec<TokenRecord>>;

    /// Removes up to `limit` tokens that expired or were revoked before `before`, in one transaction. Returns their number.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64>;
}

forward!(TokenStore {
    async fn create(token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool>;
    async fn find(lookup: &Lookup) -> BackendResult<Option<TokenRecord>>;
    async fn revoke(lookup: &Lookup, now: Timestamp, audit: &AuditEntry) -> BackendResult<bool>;
    async fn record_use(lookup: &Lookup, now: Timestamp) -> BackendResult<()>;
    async fn list(after: Option<(Timestamp, Lookup)>, limit: u32) -> BackendResult<Vec<TokenRecord>>;
    async fn purge(before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64>;
});
