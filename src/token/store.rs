//! Trait of token stores.

use std::time::Duration;

use async_trait::async_trait;

use super::{Lookup, TokenRecord, TokenState};
use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{DAY, Timestamp, UserId};

/// Filter of [`TokenStore::list`]. The default lists the newest 100 tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFilter {
    /// Only tokens of this owner; `None` for all owners.
    pub owner: Option<UserId>,
    /// Only tokens in these states.
    pub states: TokenStateFilter,
    /// Only tokens that match the search; `None` for all tokens.
    pub search: Option<TokenSearch>,
    /// Only tokens after this position of the list: the creation time and the lookup of the last token of the previous
    /// page. The list is newest first, so these tokens are older. A token with this lookup need not exist. `None` starts
    /// at the newest token.
    pub after: Option<(Timestamp, Lookup)>,
    /// Maximum number of tokens. Default: 100.
    pub limit: u32,
}

impl Default for TokenFilter {
    fn default() -> Self {
        Self { owner: None, states: TokenStateFilter::Any, search: None, after: None, limit: 100 }
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl TokenFilter {
    /// Returns the creation time in milliseconds and the lookup after which the list begins.
    pub(crate) fn start(&self) -> (i64, &str) {
        match &self.after {
            Some((created_at, lookup)) => (created_at.as_millis(), lookup.as_str()),
            // `~` is greater than every lookup.
            None => (i64::MAX, "~"),
        }
    }
}

/// States of the tokens in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenStateFilter {
    /// Tokens in any state.
    #[default]
    Any,
    /// Valid and expired tokens.
    NotRevoked,
    /// Valid tokens that expire within [`SOON`](Self::SOON).
    ExpiringSoon,
    /// Tokens in one state.
    Only(TokenState),
}

impl TokenStateFilter {
    /// Time before the expiry of a token in which it expires soon: seven days.
    pub const SOON: Duration = DAY.saturating_mul(7);
}

/// Search in the tokens. A token matches if its label contains the text, its lookup begins with the text, or it belongs to
/// the owner.
///
/// The search in labels ignores the case of ASCII letters. All other comparisons are exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSearch {
    /// Text to search for. An empty text matches every token.
    pub text: String,
    /// Member whose tokens match as well, for example the member whose username is the text; `None` for no member.
    pub owner: Option<UserId>,
}

/// Stores token records. No method reverts a revocation.
///
/// A method that takes an [`AuditEntry`] writes it to the [audit log](crate::store::AuditStore) in the transaction of its
/// change.
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    /// Adds a token. Returns `false`, and changes nothing, if its lookup exists.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn create(&self, token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool>;

    /// Returns the token with this lookup; `None` if it does not exist.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails or the record cannot be decoded.
    async fn find(&self, lookup: &Lookup) -> BackendResult<Option<TokenRecord>>;

    /// Revokes a token. Returns `false` if it does not exist. A second revocation changes nothing and writes no entry.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The revocation may nevertheless have taken
    /// effect.
    async fn revoke(
        &self,
        lookup: &Lookup,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool>;

    /// Changes the label of a token. Returns `false` if the token does not exist. Writes no entry if the token has this
    /// label.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The change may nevertheless have taken
    /// effect.
    async fn set_label(
        &self,
        lookup: &Lookup,
        label: &str,
        audit: &AuditEntry,
    ) -> BackendResult<bool>;

    /// Records a use, unless the last recorded use is less than [`TokenRecord::LAST_USED_RESOLUTION`] ago.
    ///
    /// May return before the record is durable: the time of the last use is only informative.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The library logs it and serves the request.
    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()>;

    /// Lists the tokens that the filter selects, newest first. Tokens with the same creation time are in descending
    /// order of their lookups. The filter uses the states of the tokens at `now`.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails or a record cannot be decoded.
    async fn list(&self, filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>>;

    /// Removes up to `limit` tokens that expired or were revoked before `before`, in one transaction. Returns their number.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn purge(&self, before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64>;
}

impl_for_pointers!(TokenStore {
    async fn create(token: &TokenRecord, audit: &AuditEntry) -> BackendResult<bool>;
    async fn find(lookup: &Lookup) -> BackendResult<Option<TokenRecord>>;
    async fn revoke(lookup: &Lookup, now: Timestamp, audit: &AuditEntry) -> BackendResult<bool>;
    async fn set_label(lookup: &Lookup, label: &str, audit: &AuditEntry) -> BackendResult<bool>;
    async fn record_use(lookup: &Lookup, now: Timestamp) -> BackendResult<()>;
    async fn list(filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>>;
    async fn purge(before: Timestamp, limit: u32, audit: &AuditEntry) -> BackendResult<u64>;
});
