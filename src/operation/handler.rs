//! Handlers of operations with their types erased, and what a request passes to them: a [`Call`], and the caller of the
//! kind that the handler takes.

#![allow(private_interfaces, reason = "a host cannot name `AdmittedCaller`")]

use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::error::ApiResult;
use super::extra::ExtraTypes;
use super::input::{InputSchema, Source};
use super::path::PathSegments;
use super::response::ApiResponse;
use super::services::Services;
use super::spec::OperationSpec;
use crate::host::{Access, Caller, MemberCaller, PresentedToken, RequestId, RequestInfo};
use crate::http_util::RequestBody;
use crate::model::{PageForm, UserId};
use crate::runtime::BoxFuture;

/// A request that passed steps 1 to 6, without its caller.
pub(crate) struct Call<'a> {
    pub(crate) services: &'a Arc<Services>,
    pub(crate) head: &'a Parts,
    pub(crate) id: RequestId,
    pub(crate) spec: &'a Arc<OperationSpec>,
    pub(crate) path: PathSegments<'a>,
    pub(crate) page_form: PageForm,
    pub(crate) body: &'a mut RequestBody,
    /// Maximum length of the body in bytes.
    pub(crate) body_limit: usize,
}

/// Handler of an operation, with the kind of its caller.
#[derive(Clone)]
pub(crate) enum Handler {
    /// Guests can call the operation.
    GuestOrOwner(Arc<dyn ErasedHandler<GuestOrOwner>>),
    /// A request without a token is refused with 401.
    Owner(Arc<dyn ErasedHandler<TokenOwner>>),
}

impl Handler {
    pub(crate) fn needs_token(&self) -> bool {
        matches!(self, Self::Owner(_))
    }

    pub(crate) fn describe(
        &self,
        spec: &OperationSpec,
        extra_types: &ExtraTypes,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas {
        match self {
            Self::GuestOrOwner(handler) => handler.describe(spec, extra_types, inputs, outputs),
            Self::Owner(handler) => handler.describe(spec, extra_types, inputs, outputs),
        }
    }
}

/// A handler with its types erased, except for its caller.
pub(crate) trait ErasedHandler<C>: Send + Sync {
    fn describe(
        &self,
        spec: &OperationSpec,
        extra_types: &ExtraTypes,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas;

    /// Runs steps 7 to 10.
    fn call(self: Arc<Self>, call: Call<'_>, caller: C) -> BoxFuture<'_, ApiResult<ApiResponse>>;
}

/// Schemas, examples, statuses and headers of an operation, for the OpenAPI document.
pub(crate) struct OperationSchemas {
    pub(crate) path_params: Vec<(String, Schema)>,
    pub(crate) source: Source,
    pub(crate) input: InputSchema,
    /// `true` if the input and the result are those of a list, or neither is.
    pub(crate) is_list_complete: bool,
    /// `true` if the result is a 404 for a caller who cannot see its forum.
    pub(crate) is_in_forum: bool,
    pub(crate) output: Schema,
    pub(crate) output_example: Value,
    /// Statuses of successful responses.
    pub(crate) statuses: Vec<StatusCode>,
    /// Headers that the result adds.
    pub(crate) headers: Vec<&'static str>,
}

/// Caller of an operation: [`Caller`] if guests can call it, otherwise [`MemberCaller`]. A host cannot implement this
/// trait.
///
/// A request without a token to an operation with a [`MemberCaller`] is refused with 401.
pub trait CallerKind: private::HandlerCaller {}

impl<C: private::HandlerCaller> CallerKind for C {}

/// In a private module, so that a host cannot implement the trait.
mod private {
    pub trait HandlerCaller: Send + Sync + 'static {
        /// The caller that steps 2 to 6 determine.
        type Admitted: super::AdmittedCaller;

        /// Returns the part that the handler takes.
        fn of(admitted: &Self::Admitted) -> &Self;
    }
}

/// The caller that steps 2 to 6 determine for a handler that takes a `C`.
pub(super) type AdmittedOf<C> = <C as private::HandlerCaller>::Admitted;

/// Returns the part of a caller that a handler takes.
pub(super) fn caller_of<C: CallerKind>(admitted: &AdmittedOf<C>) -> &C {
    C::of(admitted)
}

impl private::HandlerCaller for Caller {
    type Admitted = GuestOrOwner;

    fn of(admitted: &GuestOrOwner) -> &Self {
        &admitted.caller
    }
}

impl private::HandlerCaller for MemberCaller {
    type Admitted = TokenOwner;

    fn of(admitted: &TokenOwner) -> &Self {
        &admitted.member
    }
}

/// The operation `getMe` takes the token as well.
impl private::HandlerCaller for TokenOwner {
    type Admitted = Self;

    fn of(admitted: &Self) -> &Self {
        admitted
    }
}

/// Caller of an operation that needs a token.
#[derive(Debug)]
pub struct TokenOwner {
    pub(crate) member: MemberCaller,
    pub(crate) token: PresentedToken,
}

/// Caller of an operation that guests can call.
#[derive(Debug)]
pub struct GuestOrOwner {
    caller: Caller,
    /// `None` for the guest.
    token: Option<PresentedToken>,
}

impl GuestOrOwner {
    pub(crate) fn guest(access: Access, request: RequestInfo) -> Self {
        Self { caller: Caller::guest(access, request), token: None }
    }
}

impl From<TokenOwner> for GuestOrOwner {
    fn from(owner: TokenOwner) -> Self {
        Self { caller: owner.member.into(), token: Some(owner.token) }
    }
}

/// A caller that passed steps 2 to 6.
pub trait AdmittedCaller: Send + Sync + Sized + 'static {
    /// Returns the caller as the methods of [`Board`](crate::host::Board) for all callers take it.
    fn to_caller(&self) -> Cow<'_, Caller>;

    fn access(&self) -> &Access;

    /// Returns the token of the request; `None` for the guest.
    fn token(&self) -> Option<&PresentedToken>;

    /// Returns the member whose lists are personal; `None` if all callers of the operation share its lists.
    fn list_owner(&self) -> Option<&UserId>;

    /// Erases the types of a handler except for its caller.
    fn handler(handler: Arc<dyn ErasedHandler<Self>>) -> Handler;
}

impl AdmittedCaller for TokenOwner {
    fn to_caller(&self) -> Cow<'_, Caller> {
        Cow::Owned(self.member.clone().into())
    }

    fn access(&self) -> &Access {
        self.member.access()
    }

    fn token(&self) -> Option<&PresentedToken> {
        Some(&self.token)
    }

    fn list_owner(&self) -> Option<&UserId> {
        Some(self.member.user_id())
    }

    fn handler(handler: Arc<dyn ErasedHandler<Self>>) -> Handler {
        Handler::Owner(handler)
    }
}

impl AdmittedCaller for GuestOrOwner {
    fn to_caller(&self) -> Cow<'_, Caller> {
        Cow::Borrowed(&self.caller)
    }

    fn access(&self) -> &Access {
        self.caller.access()
    }

    fn token(&self) -> Option<&PresentedToken> {
        self.token.as_ref()
    }

    fn list_owner(&self) -> Option<&UserId> {
        None
    }

    fn handler(handler: Arc<dyn ErasedHandler<Self>>) -> Handler {
        Handler::GuestOrOwner(handler)
    }
}
