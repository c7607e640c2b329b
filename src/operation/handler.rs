//! Typed handlers of operations.

use std::sync::Arc;

use http::StatusCode;

use super::output::Output;
use crate::host::{BoardResult, Caller, MemberCaller};
use crate::runtime::BoxFuture;

/// Caller of an operation: [`Caller`] if guests can call it, otherwise [`MemberCaller`]. A host cannot implement this
/// trait.
pub trait CallerKind: private::Caller + Sync + Send + 'static {
    /// `true` if a request without a token is refused with 401.
    const NEEDS_TOKEN: bool;

    /// Returns the caller in this type; `None` for a guest if the type needs a token.
    fn from_caller(caller: &Caller) -> Option<&Self>;
}

mod private {
    pub trait Caller {}
}

impl private::Caller for Caller {}

impl private::Caller for MemberCaller {}

impl CallerKind for Caller {
    const NEEDS_TOKEN: bool = false;

    fn from_caller(caller: &Caller) -> Option<&Self> {
        Some(caller)
    }
}

impl CallerKind for MemberCaller {
    const NEEDS_TOKEN: bool = true;

    fn from_caller(caller: &Caller) -> Option<&Self> {
        caller.as_member()
    }
}

/// Function that runs an operation: takes the host's service, the caller, the path variables and the
/// [`Input`](super::Input), and returns an [`Output`](super::Output).
///
/// A closure without captured variables converts to it.
pub type HandlerFn<S, C, P, A, T> = for<'a> fn(&'a S, &'a C, P, A) -> BoxFuture<'a, BoardResult<T>>;

/// A [`HandlerFn`] with its service, the status of a successful response, and an example of its result.
pub(crate) struct TypedHandler<S: ?Sized, C, P, A, T: Output> {
    pub(crate) service: Arc<S>,
    pub(crate) function: HandlerFn<S, C, P, A, T>,
    pub(crate) status: StatusCode,
    pub(crate) example: fn() -> T::Body,
}
