//! Trait of token stores.

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::token::{Lookup, TokenRecord};

/// Stores token records. No method reverts a revocation.
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    /// Adds a token. Returns `false`, and changes nothing, when its lookup is taken.
    async fn create(&self, token: &TokenRecord) -> BackendResult<bool>;

    /// Finds the token with this lookup.
    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>>;

    /// Revokes a token. Returns `false` when it does not exist. A second revocation keeps the time of the first.
    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> BackendResult<bool>;

    /// Records a use, unless one within [`TokenRecord::USE_GRAIN`] before it is recorded. May return before the record is
    /// durable: a use is only a hint to the operator.
    async fn record_use(&self, lookup: &Lookup, at: Timestamp) -> BackendResult<()>;

    /// Lists up to `limit` tokens, newest first; tokens of one creation time in descending order of their lookups.
    ///
    /// The list begins after the token with the creation time and lookup `after`, which need not exist; `None` for the
    /// beginning.
    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> BackendResult<Vec<TokenRecord>>;
}
