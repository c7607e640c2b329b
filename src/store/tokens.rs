//! Where tokens are kept.

use async_trait::async_trait;

use crate::error::Stored;
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

    /// Lists up to `limit` tokens, newest first; tokens of one creation time in descending order of their lookups.
    ///
    /// The list begins behind the token with the creation time and lookup `after`, whether it exists or not; `None` for
    /// the beginning.
    async fn list(
        &self,
        after: Option<(Timestamp, Lookup)>,
        limit: u32,
    ) -> Stored<Vec<TokenRecord>>;
}
