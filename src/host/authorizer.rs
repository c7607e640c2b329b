//! Access of callers: the forums that they can see, resolved on each request.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{BackendResult, RequestInfo};
use crate::model::{ForumId, UserId};
use crate::token::{Lookup, TokenRecord};

/// Resolves the access of the guest and of members.
///
/// The library calls the authorizer on each request that passes authentication, rate limiting and the scope check. The
/// webhook worker calls it before it queues deliveries, and again before it attempts them. The results are not cached
/// for later requests or attempts: a ban or a change of permissions is effective from the next request on. With the
/// [`RequestInfo`], a host can apply rules about addresses, such as bans.
///
/// # Examples
/// ```
/// use std::collections::HashMap;
///
/// use forum_api::async_trait;
/// use forum_api::host::{Access, Authorizer, BackendResult, RequestInfo, VisibleForums};
/// use forum_api::model::{ForumId, UserId};
///
/// struct MyAuthorizer {
///     public_forums: Vec<ForumId>,
///     forums_by_member: HashMap<UserId, Vec<ForumId>>,
/// }
///
/// #[async_trait]
/// impl Authorizer for MyAuthorizer {
///     async fn guest_access(&self, _request: &RequestInfo) -> BackendResult<Access> {
///         Ok(Access::new(VisibleForums::from_ids(self.public_forums.clone())))
///     }
///
///     async fn member_access(
///         &self,
///         owner: &UserId,
///         _request: &RequestInfo,
///     ) -> BackendResult<Option<Access>> {
///         let forums = self.forums_by_member.get(owner).cloned();
///         Ok(forums.map(|forums| Access::new(VisibleForums::from_ids(forums))))
///     }
/// }
/// ```
#[async_trait]
#[doc(alias = "permissions")]
#[doc(alias = "acl")]
pub trait Authorizer: Send + Sync + 'static {
    /// Returns the access of callers without a token.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 503 with
    /// `retry-after`: the time of an [`OverloadedError`](crate::host::OverloadedError) in the chain of sources, otherwise 1 s.
    async fn guest_access(&self, request: &RequestInfo) -> BackendResult<Access>;

    /// Returns the access of a member. `None` if the account is unknown, removed or banned, or cannot act for any other
    /// reason: the response is a 403 `owner_unavailable`.
    ///
    /// The webhook worker also calls this method before it queues deliveries to the endpoints of `owner`, and again
    /// before it attempts them. If the result is `None`, the worker does not queue or send the deliveries. If the first
    /// call fails, the worker queues the deliveries; if a later call fails, it retries the attempts later.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 503 with
    /// `retry-after`: the time of an [`OverloadedError`](crate::host::OverloadedError) in the chain of sources, otherwise 1 s.
    async fn member_access(
        &self,
        owner: &UserId,
        request: &RequestInfo,
    ) -> BackendResult<Option<Access>>;

    /// Returns the access of several members, each with the result of [`member_access`](Self::member_access); the map omits
    /// members without access. The webhook worker calls it if the endpoints of a batch have at least two owners.
    ///
    /// The default is `None`: the worker then calls `member_access` for each owner. It does the same if this method fails.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails.
    async fn access_of_members(
        &self,
        _owners: &[UserId],
        _request: &RequestInfo,
    ) -> BackendResult<Option<HashMap<UserId, Access>>> {
        Ok(None)
    }

    /// Loads a token and its owner with one query, for hosts whose tokens and members are in one database. Returns the
    /// token in its current state, and a function with the result of [`member_access`](Self::member_access) for its owner.
    ///
    /// The result is `None` if the token does not exist. It is always `None` by default. The library then calls
    /// [`TokenStore::find`](crate::store::TokenStore::find) and later `member_access`, which is still required: the
    /// worker and web forms have no token.
    ///
    /// The method does not verify the secret, does not reject tokens that are revoked or expired, and has no side
    /// effects: the library also calls it for requests that it then rejects. Work that a host does only for accepted
    /// requests, such as recording the time at which a member was last seen, belongs in the function. The library calls
    /// the function after rate limiting and the scope check, instead of `member_access`. It must not block.
    ///
    /// The query of a known lookup can take longer than the query of an unknown one. The difference reveals no secret: a
    /// lookup is random, is shown in lists, and grants no access.
    ///
    /// The suite compares both results ([`Capability::TokenLoading`](crate::conformance::Capability::TokenLoading)).
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails or the record cannot be decoded. The response is
    /// a 503 as for [`guest_access`](Self::guest_access).
    ///
    /// # Examples
    /// A board on SQLite whose tokens are in the library's table:
    /// ```
    /// use forum_api::async_trait;
    /// use forum_api::host::*;
    /// use forum_api::model::{ForumId, UserId};
    /// use forum_api::store::sqlite::rusqlite::OptionalExtension;
    /// use forum_api::store::sqlite::{Database, SqliteError, read_token};
    /// use forum_api::token::Lookup;
    ///
    /// struct MyBoard {
    ///     database: Database,
    /// }
    ///
    /// /// The rank is null if the owner is banned or does not exist.
    /// const TOKEN_AND_OWNER: &str = "
    ///     SELECT lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at, member.rank
    ///     FROM forum_api_tokens
    ///     LEFT JOIN member ON member.id = CAST(owner AS INTEGER)
    ///         AND CAST(member.id AS TEXT) = owner AND NOT member.banned
    ///     WHERE lookup = ?1";
    ///
    /// #[async_trait]
    /// impl Authorizer for MyBoard {
    ///     async fn load_token(&self, lookup: &Lookup) -> BackendResult<Option<LoadedToken>> {
    ///         let lookup = *lookup;
    ///         let load = self.database.read_short::<_, SqliteError>(move |connection| {
    ///             let mut query = connection.prepare_cached(TOKEN_AND_OWNER)?;
    ///             let token = query.query_row([lookup], |row| {
    ///                 let rank: Option<i64> = row.get("rank")?;
    ///                 Ok(LoadedToken::new(read_token(row)?, move |_| rank.map(access)))
    ///             });
    ///             Ok(token.optional()?)
    ///         });
    ///         Ok(load.await?)
    ///     }
    ///
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
    /// # impl MyBoard {
    /// #     async fn rank(&self, _: &UserId) -> BackendResult<Option<i64>> {
    /// #         Ok(None)
    /// #     }
    /// # }
    /// ```
    async fn load_token(&self, _lookup: &Lookup) -> BackendResult<Option<LoadedToken>> {
        Ok(None)
    }
}

/// A token, and the access of its owner: the result of [`Authorizer::load_token`].
#[derive(Clone)]
pub struct LoadedToken {
    pub(crate) record: TokenRecord,
    pub(crate) owner_access: OwnerAccess,
}

/// Computes the access of a token's owner for a request.
pub(crate) type OwnerAccess = Arc<dyn Fn(&RequestInfo) -> Option<Access> + Send + Sync>;

impl LoadedToken {
    /// Creates the result from the token in its current state, and a function that returns what
    /// [`member_access`](Authorizer::member_access) returns for the owner.
    pub fn new(
        record: TokenRecord,
        owner_access: impl Fn(&RequestInfo) -> Option<Access> + Send + Sync + 'static,
    ) -> Self {
        Self { record, owner_access: Arc::new(owner_access) }
    }
}

debug_fields!(LoadedToken, |it| record: it.record);

impl_for_pointers!(Authorizer {
    async fn load_token(lookup: &Lookup) -> BackendResult<Option<LoadedToken>>;
    async fn guest_access(request: &RequestInfo) -> BackendResult<Access>;
    async fn member_access(owner: &UserId, request: &RequestInfo) -> BackendResult<Option<Access>>;
    async fn access_of_members(owners: &[UserId], request: &RequestInfo) -> BackendResult<Option<HashMap<UserId, Access>>>;
});

/// Access of a caller during one request.
///
/// # Examples
/// ```
/// use forum_api::host::{Access, MemberCaller, RequestInfo, VisibleForums};
/// use forum_api::model::{ForumId, Timestamp, UserId};
///
/// struct Permissions {
///     is_moderator: bool,
/// }
///
/// let forums = VisibleForums::from_ids([ForumId::from(1), ForumId::from(2)]);
/// let access = Access::new(forums).with_extension(Permissions { is_moderator: true });
/// assert_eq!(access.visible_forums().as_ids().map(|ids| ids.len()), Some(2));
///
/// // In a command of the board:
/// # let request = RequestInfo::background(Timestamp::default());
/// let member = MemberCaller::new(UserId::from(7), access, request);
/// let permissions = member.extension::<Permissions>()?;
/// assert!(permissions.is_moderator);
/// # Ok::<(), forum_api::host::BoardError>(())
/// ```
#[derive(Clone)]
pub struct Access {
    pub(crate) visible_forums: VisibleForums,
    pub(crate) board_offline: bool,
    pub(crate) offline_for: Option<Duration>,
    pub(crate) extension: Option<Arc<dyn Any + Send + Sync>>,
}

impl Access {
    /// Creates the access of a caller who can see `visible_forums`, on a board that is online, without an extension.
    pub fn new(visible_forums: VisibleForums) -> Self {
        Self { visible_forums, board_offline: false, offline_for: None, extension: None }
    }

    /// Sets whether every endpoint returns 503 `board_offline` to the caller. The OpenAPI document is still served.
    /// Default: `false`. A host sets it to `true` for all callers except administrators while the board is offline. The
    /// webhook worker ignores this setting: it also delivers events while the board is offline.
    #[must_use]
    pub fn board_offline(mut self, board_offline: bool) -> Self {
        self.board_offline = board_offline;
        self
    }

    /// Sets the time until the board is expected to be online again, for the header `retry-after` of 503 `board_offline`. It
    /// has no effect without [`board_offline`](Self::board_offline). Default: `None`, and the response has no such header.
    #[must_use]
    pub fn offline_for(mut self, offline_for: Option<Duration>) -> Self {
        self.offline_for = offline_for;
        self
    }

    /// Attaches a value of the host, such as the caller's permissions, so that methods that read do not load it again. A
    /// method that writes should load permissions in its transaction, because they can have changed since.
    ///
    /// Methods of the board read it with [`Caller::extension`](super::Caller::extension) or
    /// [`MemberCaller::extension`](super::MemberCaller::extension). A second value replaces the first.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, extension: T) -> Self {
        self.extension = Some(Arc::new(extension));
        self
    }

    /// Returns the forums that the caller can see.
    pub fn visible_forums(&self) -> &VisibleForums {
        &self.visible_forums
    }
}

debug_fields!(Access, |it| visible_forums: it.visible_forums, board_offline: it.board_offline);

/// Set of the forums that a caller can see. Cloning is cheap.
#[derive(Clone)]
#[doc(alias = "acl")]
pub struct VisibleForums(ForumSet);

#[derive(Clone)]
enum ForumSet {
    All,
    Ids(Arc<HashSet<ForumId>>),
    Except(Arc<HashSet<ForumId>>),
    Predicate(Arc<dyn Fn(&ForumId) -> bool + Send + Sync>),
}

impl VisibleForums {
    /// Returns the set of all forums.
    ///
    /// The set contains ids that no forum has, and the library does not know which forums exist: `list_threads` and
    /// `create_thread` return [`BoardError::PathNotFound`](super::BoardError::PathNotFound) for such an id.
    pub fn all() -> Self {
        Self(ForumSet::All)
    }

    /// Returns the empty set. A guest with this set cannot see members either.
    pub fn none() -> Self {
        Self::from_ids([])
    }

    /// Returns the set of the forums with these ids.
    pub fn from_ids(forums: impl IntoIterator<Item = ForumId>) -> Self {
        Self(ForumSet::Ids(Arc::new(forums.into_iter().collect())))
    }

    /// Returns the set of all forums except those with these ids, for boards with many open forums and few hidden ones.
    ///
    /// The set contains ids that no forum has. For such an id, `list_threads` and `create_thread` return
    /// [`BoardError::PathNotFound`](super::BoardError::PathNotFound), so that the response is the same as for a hidden
    /// forum.
    ///
    /// ```
    /// use forum_api::host::VisibleForums;
    /// use forum_api::model::ForumId;
    ///
    /// let forums = VisibleForums::all_except([ForumId::from(7)]);
    /// assert!(!forums.contains(&ForumId::from(7)));
    /// assert!(forums.contains(&ForumId::from(8)));
    /// ```
    pub fn all_except(forums: impl IntoIterator<Item = ForumId>) -> Self {
        Self(ForumSet::Except(Arc::new(forums.into_iter().collect())))
    }

    /// Returns the set of the forums for which `is_visible` returns `true`, for boards with too many forums to list the
    /// visible or the hidden ones on each request. An id that no forum has is treated as in
    /// [`all_except`](Self::all_except). The library calls `is_visible` for each forum of a result, so it must be fast
    /// and must not block.
    ///
    /// If the caller can see no forum, use [`none`](Self::none) instead: [`is_empty`](Self::is_empty) cannot call
    /// `is_visible` for all forums, and always returns `false` for a set that `from_fn` created.
    pub fn from_fn(is_visible: impl Fn(&ForumId) -> bool + Send + Sync + 'static) -> Self {
        Self(ForumSet::Predicate(Arc::new(is_visible)))
    }

    /// Returns the ids of a set that was created with [`from_ids`](Self::from_ids) or [`none`](Self::none), for the queries
    /// of a board; `None` for the other sets.
    pub fn as_ids(&self) -> Option<&HashSet<ForumId>> {
        match &self.0 {
            ForumSet::Ids(forums) => Some(forums),
            ForumSet::All | ForumSet::Except(_) | ForumSet::Predicate(_) => None,
        }
    }

    /// Returns the ids that a set of [`all_except`](Self::all_except) excludes; `None` for the other sets.
    pub fn as_excluded_ids(&self) -> Option<&HashSet<ForumId>> {
        match &self.0 {
            ForumSet::Except(forums) => Some(forums),
            ForumSet::All | ForumSet::Ids(_) | ForumSet::Predicate(_) => None,
        }
    }

    /// Returns `true` if the set may contain an id that no forum has.
    pub(crate) fn has_unknown_ids(&self) -> bool {
        !matches!(&self.0, ForumSet::Ids(_))
    }

    /// Returns `true` if the set contains the forum.
    pub fn contains(&self, forum: &ForumId) -> bool {
        match &self.0 {
            ForumSet::All => true,
            ForumSet::Ids(forums) => forums.contains(forum),
            ForumSet::Except(forums) => !forums.contains(forum),
            ForumSet::Predicate(is_visible) => is_visible(forum),
        }
    }

    /// Returns `true` if the set contains no forum. Always `false` for
    /// [`all_except`](Self::all_except) and [`from_fn`](Self::from_fn).
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, ForumSet::Ids(forums) if forums.is_empty())
    }
}

impl Debug for VisibleForums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ForumSet::All => f.write_str("all"),
            ForumSet::Ids(forums) => forums.fmt(f),
            ForumSet::Except(forums) => write!(f, "all except {forums:?}"),
            ForumSet::Predicate(_) => f.write_str("from a function"),
        }
    }
}
