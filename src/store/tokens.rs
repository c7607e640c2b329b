//! Trait of token stores.

use async_trait::async_trait;

use crate::audit::AuditEntry;
use crate::error::BackendResult;
use crate::model::{Timestamp, UserId};
use crate::token::{LoadedToken, Lookup, TokenRecord, TokenState};

/// Filter of [`TokenStore::list`]. The default does not restrict the list, but has the limit 0, which lists no tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Maximum number of tokens. The default of 0 lists none.
    pub limit: u32,
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
    /// Tokens in one state.
    Only(TokenState),
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
    /// [`BackendError`](super::BackendError) if the backend fails. The revocation may nevertheless have taken
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
    /// [`BackendError`](super::BackendError) if the backend fails. The change may nevertheless have taken
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
    /// [`BackendError`](super::BackendError) if the backend fails. The library logs it and serves the request.
    async fn record_use(&self, lookup: &Lookup, now: Timestamp) -> BackendResult<()>;

    /// Lists the tokens that the filter selects, newest first. Tokens with the same creation time are in descending
    /// order of their lookups. The filter uses the states of the tokens at `now`.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails or a record cannot be decoded.
    async fn list(&self, filter: &TokenFilter, now: Timestamp) -> BackendResult<Vec<TokenRecord>>;

    /// Removes up to `limit` tokens that expired or were revoked before `before`, in one transaction. Returns their number.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
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

/// Finds a token and data of its owner with one query, for hosts whose tokens and members are in one database.
///
/// Without a loader the library makes two calls for each request with a token: [`TokenStore::find`], and
/// [`Authorizer::member_access`](crate::host::Authorizer::member_access), which loads the owner. With a loader in
/// [`Stores::token_loader`](super::Stores::token_loader) the library calls [`load_token`](Self::load_token) instead of `find`.
/// The library then compares the digest of the secret, checks that the token is valid, and charges the request.
/// `member_access` receives the loaded data ([`RequestInfo::loaded_owner`](crate::host::RequestInfo::loaded_owner)) and
/// needs no query.
///
/// A loader does not verify secrets, does not reject tokens that are revoked or expired, and has no side effects:
/// the library also calls it for requests that it then rejects. Work that a host does only for accepted requests, such as
/// recording the time at which a member was last seen, belongs in `member_access`.
///
/// The query of a known lookup can take longer than the query of an unknown one, as with `find`. The difference reveals no
/// secret: a lookup is random, is shown in lists, and grants no access.
///
/// # Examples
/// A board on SQLite whose tokens are in the library's table:
/// ```
/// use std::sync::Arc;
///
/// use forum_api::async_trait;
/// use forum_api::host::*;
/// use forum_api::model::{ForumId, UserId};
/// use forum_api::store::sqlite::rusqlite::OptionalExtension;
/// use forum_api::store::sqlite::{Database, SqliteError, read_token};
/// use forum_api::store::{Stores, TokenLoader};
/// use forum_api::token::{LoadedToken, Lookup};
///
/// /// Rank of a member; `None` if the member is banned or does not exist.
/// type Rank = Option<i64>;
///
/// struct MyBoard {
///     database: Database,
/// }
///
/// const TOKEN_AND_OWNER: &str = "
///     SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at, member.rank
///     FROM forum_api_tokens
///     LEFT JOIN member ON member.id = CAST(owner AS INTEGER)
///         AND CAST(member.id AS TEXT) = owner AND NOT member.banned
///     WHERE lookup = ?1";
///
/// #[async_trait]
/// impl TokenLoader for MyBoard {
///     async fn load_token(&self, lookup: &Lookup) -> BackendResult<Option<LoadedToken>> {
///         let lookup = *lookup;
///         let load = self.database.read_short::<_, SqliteError>(move |connection| {
///             let mut query = connection.prepare_cached(TOKEN_AND_OWNER)?;
///             let token = query.query_row([lookup], |row| {
///                 let rank: Rank = row.get("rank")?;
///                 Ok(LoadedToken::new(read_token(row)?).with_owner(rank))
///             });
///             Ok(token.optional()?)
///         });
///         Ok(load.await?)
///     }
/// }
///
/// #[async_trait]
/// impl Authorizer for MyBoard {
///     async fn member_access(&self, owner: &UserId, request: &RequestInfo) -> BackendResult<Option<Access>> {
///         let rank = match request.loaded_owner::<Rank>() {
///             Some(rank) => *rank,
///             None => self.rank(owner).await?, // for the worker, and for web forms
///         };
///         Ok(rank.map(access))
///     }
///
///     async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
///         Ok(access(0))
///     }
/// }
///
/// fn access(rank: i64) -> Access {
///     Access::new(VisibleForums::from_ids((0..=rank).map(ForumId::from)))
/// }
///
/// # impl MyBoard {
/// #     async fn rank(&self, _: &UserId) -> BackendResult<Rank> {
/// #         Ok(None)
/// #     }
/// # }
/// fn stores(board: Arc<MyBoard>) -> Stores {
///     Stores {
///         token_loader: Some(board.clone()),
///         ..Stores::in_sqlite(&board.database)
///     }
/// }
/// ```
#[async_trait]
pub trait TokenLoader: Send + Sync + 'static {
    /// Returns the token with this lookup in its current state, with data of its owner; `None` if the token does not exist.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails or the record cannot be decoded. The response is a 500,
    /// or a 503 if the source is an [`OverloadedError`](super::OverloadedError).
    async fn load_token(&self, lookup: &Lookup) -> BackendResult<Option<LoadedToken>>;
}

impl_for_pointers!(TokenLoader {
    async fn load_token(lookup: &Lookup) -> BackendResult<Option<LoadedToken>>;
});
