//! Who is asking: the board's guest, or a member.

use crate::model::{TokenInfo, UserId};
use crate::scope::Scope;
use crate::token::Lookup;

use super::{Access, BoardError, BoardResult};

/// The one who reads.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Nobody in particular.
    Guest(Access),
    /// A member.
    Member(MemberCaller),
}

impl Caller {
    /// What the caller may see.
    pub fn access(&self) -> &Access {
        match self {
            Self::Guest(standing) => standing,
            Self::Member(member) => &member.access,
        }
    }

    /// The caller's id; `None` for a guest.
    pub fn user_id(&self) -> Option<&UserId> {
        self.as_member().map(MemberCaller::user_id)
    }

    /// The caller as a member; `None` for a guest.
    pub fn as_member(&self) -> Option<&MemberCaller> {
        match self {
            Self::Guest(_) => None,
            Self::Member(member) => Some(member),
        }
    }

    /// What the host's [`Authorizer`](super::Authorizer) loaded for this request with [`Access::with`].
    ///
    /// # Errors
    /// [`BoardError::Failed`] when it loaded something else.
    pub fn extension<T: 'static>(&self) -> BoardResult<&T> {
        loaded(self.access())
    }

    /// The member who presented a token.
    pub(crate) fn bearer(user: UserId, standing: Access, presented: PresentedToken) -> Self {
        Self::Member(MemberCaller {
            user_id: user,
            access: standing,
            presented: Some(presented),
        })
    }
}

/// The one who writes: a member, never a guest.
#[derive(Clone, Debug)]
pub struct MemberCaller {
    user_id: UserId,
    access: Access,
    presented: Option<PresentedToken>,
}

/// The token that a request came with.
#[derive(Clone, Debug)]
pub(crate) struct PresentedToken {
    pub(crate) lookup: Lookup,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) token: TokenInfo,
}

impl MemberCaller {
    /// A member with this standing. Public, so that a host's web form calls the same command as the API does.
    pub fn new(user: UserId, standing: Access) -> Self {
        Self {
            user_id: user,
            access: standing,
            presented: None,
        }
    }

    /// The member's id.
    pub fn user_id(&self) -> &UserId {
        &self.user_id
    }

    /// What the member may see.
    pub fn access(&self) -> &Access {
        &self.access
    }

    pub(crate) fn presented(&self) -> Option<&PresentedToken> {
        self.presented.as_ref()
    }

    /// What the host's [`Authorizer`](super::Authorizer) loaded for this request with [`Access::with`].
    ///
    /// # Errors
    /// [`BoardError::Failed`] when it loaded something else.
    pub fn extension<T: 'static>(&self) -> BoardResult<&T> {
        loaded(&self.access)
    }
}

fn loaded<T: 'static>(standing: &Access) -> BoardResult<&T> {
    let found = standing
        .loaded
        .as_ref()
        .and_then(|loaded| loaded.downcast_ref());
    found.ok_or_else(|| {
        BoardError::internal(format!(
            "the authorizer did not load a {}; keep it with `Access::with_extension`",
            std::any::type_name::<T>()
        ))
    })
}
