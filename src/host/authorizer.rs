//! Who may see what: asked on every request, and nothing of the answer is kept (`docs/protocol.md`, section 2.4).

use std::any::Any;
use std::collections::HashSet;
use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;

use super::BackendResult;
use crate::model::{ForumId, UserId};

/// The board's authorization component.
#[async_trait]
pub trait Authorizer: Send + Sync + 'static {
    /// What the board's guest may see now.
    ///
    /// # Errors
    /// When the board's backend fails.
    async fn guest_access(&self) -> BackendResult<Access>;

    /// What this member may see now; `None` when the account can no longer act, whatever the reason: the caller gets
    /// 403 `owner_unavailable`.
    ///
    /// # Errors
    /// When the board's backend fails.
    async fn member_access(&self, owner: &UserId) -> BackendResult<Option<Access>>;
}

/// What a caller may see at the time of one request, and what the host loaded to know it.
#[derive(Clone)]
pub struct Access {
    pub(crate) visible_forums: VisibleForums,
    pub(crate) deny_offline: bool,
    pub(crate) loaded: Option<Arc<dyn Any + Send + Sync>>,
}

impl Access {
    /// The standing of one who sees `forums`, on a board that is online.
    pub fn new(forums: VisibleForums) -> Self {
        Self {
            visible_forums: forums,
            deny_offline: false,
            loaded: None,
        }
    }

    /// Whether the board is offline and this caller may not see it: 503 `board_offline`.
    #[must_use]
    pub fn deny_offline(self, locked_out: bool) -> Self {
        Self {
            deny_offline: locked_out,
            ..self
        }
    }

    /// Keeps the host's own permissions, so that one query resolves a request: commands read them back with
    /// [`Caller::loaded`](super::Caller::loaded).
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(self, loaded: T) -> Self {
        Self {
            loaded: Some(Arc::new(loaded)),
            ..self
        }
    }

    /// The forums that the caller sees.
    pub fn visible_forums(&self) -> &VisibleForums {
        &self.visible_forums
    }
}

impl Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("forums", &self.visible_forums)
            .field("locked_out", &self.deny_offline)
            .finish_non_exhaustive()
    }
}

/// Which forums a caller sees.
#[derive(Clone)]
pub struct VisibleForums(Kind);

#[derive(Clone)]
enum Kind {
    All,
    These(HashSet<ForumId>),
    Where(Arc<dyn Fn(&ForumId) -> bool + Send + Sync>),
}

impl VisibleForums {
    /// All of them.
    pub fn all() -> Self {
        Self(Kind::All)
    }

    /// None: a guest who sees none sees no member either.
    pub fn none() -> Self {
        Self::from_ids([])
    }

    /// These.
    pub fn from_ids(forums: impl IntoIterator<Item = ForumId>) -> Self {
        Self(Kind::These(forums.into_iter().collect()))
    }

    /// Those for which `sees` is true: for a board with more forums than one wants to list at each request.
    ///
    /// Say [`none`](Self::none) instead of a function that is false for all.
    pub fn from_fn(sees: impl Fn(&ForumId) -> bool + Send + Sync + 'static) -> Self {
        Self(Kind::Where(Arc::new(sees)))
    }

    /// Whether `forum` is among them.
    pub fn contains(&self, forum: &ForumId) -> bool {
        match &self.0 {
            Kind::All => true,
            Kind::These(forums) => forums.contains(forum),
            Kind::Where(sees) => sees(forum),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Kind::These(forums) if forums.is_empty())
    }
}

impl Debug for VisibleForums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::All => f.write_str("all"),
            Kind::These(forums) => forums.fmt(f),
            Kind::Where(_) => f.write_str("by a function"),
        }
    }
}
