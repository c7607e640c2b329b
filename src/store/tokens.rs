//! Where tokens are kept.

use async_trait::async_trait;

use crate::host::Stored;
use crate::model::Timestamp;
use crate::token::{Lookup, TokenRecord};

/// Keeps token records. No verb un-revokes.
#[async_trait]
pub trait Tokens: Send + Sync + 'static {
    /// Adds a token; `false` when its lookup is taken, and nothing was changed.
    async fn create(&self, token: &TokenRecord) -> Stored<bool>;

    /// The token with this lookup, as it is now.
    async fn find(&self, lookup: &Lookup) -> Stored<Option<TokenRecord>>;

    /// Revokes a token; `false` when there is none. Revoking twice keeps the first time.
    async fn revoke(&self, lookup: &Lookup, at: Timestamp) -> Stored<bool>;

    /// Notes a use, unless one within [`TokenRecord::USE_GRAIN`] before it is noted. May return before that is
    /// durable: a use is no more than a hint to the operator.
    async fn used(&self, lookup: &Lookup, at: Timestamp) -> Stored<()>;

    /// Up to `limit` tokens in the order of their lookups, those after `after`.
    async fn list(&self, after: Option<&Lookup>, limit: u32) -> Stored<Vec<TokenRecord>>;
}
