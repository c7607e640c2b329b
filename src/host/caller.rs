//! Callers: the board's guest, or a member.

use super::{Access, BoardError, BoardResult, RequestInfo};
use crate::model::{TokenInfo, UserId};
use crate::scope::ScopeSet;
use crate::token::Lookup;

/// Caller of a command: the guest or a member.
#[derive(Clone, Debug)]
pub enum Caller {
    /// A client without a token, or a visitor of a web page who is not signed in. [`guest`](Self::guest) creates it.
    #[non_exhaustive]
    Guest {
        /// See [`access`](Self::access).
        access: Access,
        /// See [`request`](Self::request).
        request: RequestInfo,
    },
    /// The owner of the request's token, or the member who uses a web form.
    Member(MemberCaller),
}

impl Caller {
    /// Creates the guest of a request, so that a host's web page can run the same command as the API.
    pub fn guest(access: Access, request: RequestInfo) -> Self {
        Self::Guest { access, request }
    }

    /// Returns the caller's access at the start of the request.
    pub fn access(&self) -> &Access {
        match self {
            Self::Guest { access, .. } => access,
            Self::Member(member) => &member.access,
        }
    }

    /// Returns the id, client address, token lookup, user agent and time of the request.
    pub fn request(&self) -> &RequestInfo {
        match self {
            Self::Guest { request, .. } => request,
            Self::Member(member) => &member.request,
        }
    }

    /// Returns the caller's id; `None` for the guest.
    pub fn user_id(&self) -> Option<&UserId> {
        self.as_member().map(MemberCaller::user_id)
    }

    /// Returns the caller as a member; `None` for the guest.
    pub fn as_member(&self) -> Option<&MemberCaller> {
        match self {
            Self::Guest { .. } => None,
            Self::Member(member) => Some(member),
        }
    }

    /// Returns the value that the host's [`Authorizer`](super::Authorizer) attached with [`Access::with_extension`].
    ///
    /// # Errors
    /// [`BoardError::Internal`] if the authorizer attached no value, or a value of another type.
    pub fn extension<T: 'static>(&self) -> BoardResult<&T> {
        extension(self.access())
    }
}

impl From<MemberCaller> for Caller {
    fn from(member: MemberCaller) -> Self {
        Self::Member(member)
    }
}

/// A member as the caller of a command.
#[derive(Clone, Debug)]
pub struct MemberCaller {
    user_id: UserId,
    access: Access,
    request: RequestInfo,
}

/// Token of a request.
#[derive(Clone, Debug)]
pub(crate) struct PresentedToken {
    pub(crate) lookup: Lookup,
    pub(crate) scopes: ScopeSet,
    pub(crate) token: TokenInfo,
}

impl MemberCaller {
    /// Creates the caller of a command. A web form can thus run the same command as the API.
    pub fn new(user_id: UserId, access: Access, request: RequestInfo) -> Self {
        Self { user_id, access, request }
    }

    /// Returns the member's id.
    pub fn user_id(&self) -> &UserId {
        &self.user_id
    }

    /// Returns the member's access at the start of the request.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the id, client address, token lookup, user agent and time of the request.
    pub fn request(&self) -> &RequestInfo {
        &self.request
    }

    /// Returns the value that the host's [`Authorizer`](super::Authorizer) attached with [`Access::with_extension`].
    ///
    /// # Errors
    /// [`BoardError::Internal`] if the authorizer attached no value, or a value of another type.
    pub fn extension<T: 'static>(&self) -> BoardResult<&T> {
        extension(&self.access)
    }
}

fn extension<T: 'static>(access: &Access) -> BoardResult<&T> {
    let extension = access.extension.as_ref().and_then(|extension| extension.downcast_ref());
    extension.ok_or_else(|| {
        BoardError::internal(format!(
            "the authorizer attached no {}; attach it with `Access::with_extension`",
            std::any::type_name::<T>()
        ))
    })
}
