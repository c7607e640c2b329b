//! Who is asking: the board's guest, or a member.

use crate::model::{TokenInfo, UserId};
use crate::scope::Scope;
use crate::token::Lookup;

use super::{Refusal, Result, Standing};

/// The one who reads.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Nobody in particular.
    Guest(Standing),
    /// A member.
    Member(Member),
}

impl Caller {
    /// What the caller may see.
    pub fn standing(&self) -> &Standing {
        match self {
            Self::Guest(standing) => standing,
            Self::Member(member) => &member.standing,
        }
    }

    /// The caller's id; `None` for a guest.
    pub fn user(&self) -> Option<&UserId> {
        self.member().map(Member::user)
    }

    /// The caller as a member; `None` for a guest.
    pub fn member(&self) -> Option<&Member> {
        match self {
            Self::Guest(_) => None,
            Self::Member(member) => Some(member),
        }
    }

    /// What the host's [`Authority`](super::Authority) loaded for this request with [`Standing::with`].
    ///
    /// # Errors
    /// [`Refusal::Failed`] when it loaded something else.
    pub fn loaded<T: 'static>(&self) -> Result<&T> {
        loaded(self.standing())
    }

    /// The member who presented a token.
    pub(crate) fn bearer(user: UserId, standing: Standing, presented: Presented) -> Self {
        Self::Member(Member {
            user,
            standing,
            presented: Some(presented),
        })
    }
}

/// The one who writes: a member, never a guest.
#[derive(Clone, Debug)]
pub struct Member {
    user: UserId,
    standing: Standing,
    presented: Option<Presented>,
}

/// The token that a request came with.
#[derive(Clone, Debug)]
pub(crate) struct Presented {
    pub(crate) lookup: Lookup,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) token: TokenInfo,
}

impl Member {
    /// A member with this standing. Public, so that a host's web form calls the same command as the API does.
    pub fn new(user: UserId, standing: Standing) -> Self {
        Self {
            user,
            standing,
            presented: None,
        }
    }

    /// The member's id.
    pub fn user(&self) -> &UserId {
        &self.user
    }

    /// What the member may see.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(crate) fn presented(&self) -> Option<&Presented> {
        self.presented.as_ref()
    }

    /// What the host's [`Authority`](super::Authority) loaded for this request with [`Standing::with`].
    ///
    /// # Errors
    /// [`Refusal::Failed`] when it loaded something else.
    pub fn loaded<T: 'static>(&self) -> Result<&T> {
        loaded(&self.standing)
    }
}

fn loaded<T: 'static>(standing: &Standing) -> Result<&T> {
    let found = standing
        .loaded
        .as_ref()
        .and_then(|loaded| loaded.downcast_ref());
    found.ok_or_else(|| {
        Refusal::failed(format!(
            "the authorizer did not load a {}; keep it with `Access::with_extension`",
            std::any::type_name::<T>()
        ))
    })
}
