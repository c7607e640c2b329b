//! Every trait that a host implements, in reading order: who may see what ([`Authorizer`]), what the board does
//! ([`Board`]), who runs it ([`Operator`]), and how it says no ([`BoardError`]).

#[cfg(feature = "panel")]
mod admin_auth;
mod authorizer;
mod board;
mod caller;
mod error;
mod in_forum;

pub use crate::error::{BackendError, BackendResult, BoxError, IntoBackendError, Overloaded};
#[cfg(feature = "panel")]
pub use admin_auth::{AdminAuth, Session};
pub use authorizer::{Access, Authorizer, VisibleForums};
pub use board::{Board, ResourceRef};
pub(crate) use caller::PresentedToken;
pub use caller::{Caller, MemberCaller};
pub use error::BoardError;
pub use in_forum::{HasForum, InForum};

/// What a command of the board gives.
pub type BoardResult<T, E = BoardError> = std::result::Result<T, E>;
