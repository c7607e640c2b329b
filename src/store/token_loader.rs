//! Tokens that are loaded together with the access of their owners.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::host::{Access, RequestInfo};
use crate::token::{Lookup, TokenRecord};

/// Finds a token and the access of its owner with one query, for hosts whose tokens and members are in one database.
///
/// Without a loader the library makes two calls for each request with a token: [`TokenStore::find`](super::TokenStore::find), and
/// [`Authorizer::member_access`](crate::host::Authorizer::member_access), which loads the owner. With a loader in
/// [`Stores::token_loader`](super::Stores::token_loader) the library calls [`load_token`](Self::load_token) instead of `find`.
/// The library then compares the digest of the secret, checks that the token is valid, and charges the request.
/// The access is the result of the function that the loader attached with [`LoadedToken::with_access`]; `member_access` is
/// not called.
///
/// A loader does not verify secrets, does not reject tokens that are revoked or expired, and has no side effects:
/// the library also calls it for requests that it then rejects. Work that a host does only for accepted requests, such as
/// recording the time at which a member was last seen, belongs in the attached function.
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
/// use forum_api::store::{LoadedToken, Stores, TokenLoader};
/// use forum_api::token::Lookup;
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
///                 Ok(LoadedToken::new(read_token(row)?).with_access(move |_| rank.map(access)))
///             });
///             Ok(token.optional()?)
///         });
///         Ok(load.await?)
///     }
/// }
///
/// #[async_trait]
/// impl Authorizer for MyBoard {
///     // For the worker, and for web forms.
///     async fn member_access(&self, owner: &UserId, _: &RequestInfo) -> BackendResult<Option<Access>> {
///         Ok(self.rank(owner).await?.map(access))
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
    /// Returns the token with this lookup in its current state, with the access of its owner; `None` if the token does not exist.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails or the record cannot be decoded. The response is a 500,
    /// or a 503 if the source is an [`OverloadedError`](crate::host::OverloadedError).
    async fn load_token(&self, lookup: &Lookup) -> BackendResult<Option<LoadedToken>>;
}

impl_for_pointers!(TokenLoader {
    async fn load_token(lookup: &Lookup) -> BackendResult<Option<LoadedToken>>;
});

/// Computes the access of a token's owner for a request.
type OwnerAccess = dyn Fn(&RequestInfo) -> Option<Access> + Send + Sync;

/// Token with the access of its owner, which a [`TokenLoader`] loads with one query.
#[derive(Clone)]
pub struct LoadedToken {
    pub(crate) record: TokenRecord,
    pub(crate) access: Option<Arc<OwnerAccess>>,
}

impl LoadedToken {
    /// Creates a token without the access of its owner. The library then calls
    /// [`Authorizer::member_access`](crate::host::Authorizer::member_access).
    pub fn new(record: TokenRecord) -> Self {
        Self {
            record,
            access: None,
        }
    }

    /// Attaches a function that computes the access of the owner from the loaded rows, with the same result as
    /// [`Authorizer::member_access`](crate::host::Authorizer::member_access): `None` if the account is unknown, removed or
    /// banned.
    ///
    /// The library calls `access` after rate limiting and the scope check. The function must not block.
    #[must_use]
    pub fn with_access(
        self,
        access: impl Fn(&RequestInfo) -> Option<Access> + Send + Sync + 'static,
    ) -> Self {
        Self {
            access: Some(Arc::new(access)),
            ..self
        }
    }

    /// Returns the token.
    pub fn record(&self) -> &TokenRecord {
        &self.record
    }
}

impl Debug for LoadedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedToken")
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}
