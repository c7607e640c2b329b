//! Traits that a host implements, and their parameter and error types.
//!
//! - [`Authorizer`] resolves the forums that a caller can see, on each request.
//! - [`Board`] runs the commands, one method for each endpoint. Its errors are [`BoardError`]s.
#![cfg_attr(
    feature = "panel",
    doc = "- [`AdminAuth`] connects the control panel to the host's sign-in."
)]

#[cfg(feature = "panel")]
mod admin_auth;
mod authorizer;
mod board;
mod caller;
mod create_outcome;
mod error;
mod in_forum;
mod parts;
mod rejection;
mod request_info;
mod web_urls;

pub use crate::error::{
    BackendError, BackendResult, BoxError, IntoBackendError, OrInternal, OverloadedError,
};
#[cfg(feature = "panel")]
pub use admin_auth::{AdminAuth, Session};
pub(crate) use authorizer::OwnerAccess;
pub use authorizer::{Access, Authorizer, LoadedToken, VisibleForums};
#[cfg(test)]
pub(crate) use board::METHODS_WITH_ENDPOINT;
pub use board::{Board, ResourceRef};
pub(crate) use caller::PresentedToken;
pub use caller::{Caller, MemberCaller};
pub use create_outcome::CreateOutcome;
pub use error::BoardError;
pub use in_forum::{HasForum, InForum};
pub use parts::Host;
pub use rejection::Rejection;
pub use request_info::RequestInfo;
pub(crate) use request_info::{RequestEvents, RequestId};
pub(crate) use web_urls::Linked;
pub use web_urls::{WebPage, WebUrls};

/// Result of a [`Board`] method.
pub type BoardResult<T> = Result<T, BoardError>;
