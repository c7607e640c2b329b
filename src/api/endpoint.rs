//! A row of the table of endpoints, and the typed handler behind it.

use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode};
use schemars::{Schema, SchemaGenerator};

use super::error::{ApiError, ErrorCode};
use super::extract::params::{Params, Source};
use super::extract::path::{PathParams, RawPathParams};
use super::extract::query;
use super::extract::value::InputValue;
use super::output::{RenderContext, Rendered, ToWire};
use super::pagination::CursorScope;
use super::response::ApiResponse;
use crate::host::{Board, BoardResult, Caller, MemberCaller, ResourceRef};
use crate::model::{UserId, UserRef};
use crate::runtime::BoxFuture;
use crate::scope::{Scope, Surface};

/// Capacity with which the body of a response begins, in bytes.
const INITIAL_CAPACITY: usize = 1024;

/// An endpoint: everything that a client can see of it comes from here.
pub(super) struct ApiEndpoint {
    pub(super) method: Method,
    /// Its path below the base path, with variables in braces.
    pub(super) path: &'static str,
    pub(super) operation_id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    /// What its types cannot say.
    pub(super) notes: &'static str,
    pub(super) scope: Scope,
    /// A field of the body, and the scope that a request with `true` in it needs beside the endpoint's own.
    pub(super) field_scope: Option<(&'static str, Scope)>,
    pub(super) cost: u32,
    pub(super) privacy: Privacy,
    /// True if a request changes something: it runs to its end even if the client hangs up.
    pub(super) has_side_effects: bool,
    /// The codes that the board's own rules raise.
    pub(super) board_errors: &'static [ErrorCode],
    pub(super) surfaces: &'static [Surface],
    pub(super) handler: &'static dyn ErasedHandler,
}

/// Who may store a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privacy {
    /// The client, which asks again before it uses it.
    Client,
    /// Nobody: it holds private affairs of the caller.
    NoStore,
}

impl ApiEndpoint {
    pub(super) fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    pub(super) fn accepts_idempotency_key(&self) -> bool {
        self.method == Method::POST
    }

    pub(super) fn is_private(&self) -> bool {
        self.privacy == Privacy::NoStore
    }

    /// Returns whether responses have an `etag`.
    pub(super) fn is_conditional(&self) -> bool {
        !self.has_side_effects
    }
}

/// Who may call an endpoint: anybody, or the owner of a token.
pub(super) trait CallerKind: Sync + Send + 'static {
    const NEEDS_TOKEN: bool;

    fn of(caller: &Caller) -> Option<&Self>;
}

impl CallerKind for Caller {
    const NEEDS_TOKEN: bool = false;

    fn of(caller: &Caller) -> Option<&Self> {
        Some(caller)
    }
}

impl CallerKind for MemberCaller {
    const NEEDS_TOKEN: bool = true;

    fn of(caller: &Caller) -> Option<&Self> {
        caller.as_member()
    }
}

/// A call of a method of the board.
pub(super) type HandlerFn<C, P, A, T> =
    for<'a> fn(&'a dyn Board, &'a C, P, A) -> BoxFuture<'a, BoardResult<T>>;

/// A method of the board: who may call it, with which path variables and parameters, and what it returns.
pub(super) struct Handler<C, P, A, T> {
    function: HandlerFn<C, P, A, T>,
    status: StatusCode,
}

impl<C, P, A, T> Handler<C, P, A, T> {
    pub(super) const fn ok(function: HandlerFn<C, P, A, T>) -> Self {
        Self::with_status(StatusCode::OK, function)
    }

    pub(super) const fn created(function: HandlerFn<C, P, A, T>) -> Self {
        Self::with_status(StatusCode::CREATED, function)
    }

    pub(super) const fn no_content(function: HandlerFn<C, P, A, T>) -> Self {
        Self::with_status(StatusCode::NO_CONTENT, function)
    }

    const fn with_status(status: StatusCode, function: HandlerFn<C, P, A, T>) -> Self {
        Self { function, status }
    }
}

/// The schemas of an endpoint.
pub(super) struct OperationSchemas {
    pub(super) path_params: Vec<(&'static str, Schema)>,
    pub(super) source: Source,
    pub(super) params: Schema,
    pub(super) output: Schema,
    /// The statuses of success.
    pub(super) statuses: Vec<StatusCode>,
    /// Headers that the output adds.
    pub(super) headers: &'static [&'static str],
}

/// A handler without its types.
pub(super) trait ErasedHandler: Sync {
    fn needs_token(&self) -> bool;
    fn source(&self) -> Source;
    fn describe(
        &self,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas;
    /// Refuses a path that can name nothing.
    fn check_path(&self, path: RawPathParams<'_>) -> Result<(), ApiError>;
    /// Decodes the path and the parameters, which are in `body` or, without one, in the query.
    fn decode(
        &'static self,
        operation_id: &'static str,
        head: &Parts,
        path: RawPathParams<'_>,
        body: Option<InputValue<'_>>,
        caller: &Caller,
    ) -> Result<Box<dyn Invocation>, ApiError>;
}

/// A handler with its decoded input.
pub(super) trait Invocation: Send + Sync {
    /// The place that the path names.
    fn place(&self) -> ResourceRef<'_>;
    /// The member that the path names.
    fn member(&self) -> Option<&UserRef>;
    /// Step 10: calls the board, and renders its result.
    fn run<'a>(
        self: Box<Self>,
        board: &'a dyn Board,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<ApiResponse, ApiError>>;
}

impl<C: CallerKind, P: PathParams, A: Params, T: ToWire> Handler<C, P, A, T> {
    fn parse_path(path: RawPathParams<'_>) -> Result<P, ApiError> {
        P::parse(path).ok_or(ApiError::NotFound)
    }
}

impl<C: CallerKind, P: PathParams, A: Params, T: ToWire> ErasedHandler for Handler<C, P, A, T> {
    fn needs_token(&self) -> bool {
        C::NEEDS_TOKEN
    }

    fn source(&self) -> Source {
        A::SOURCE
    }

    fn describe(
        &self,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas {
        OperationSchemas {
            path_params: P::NAMES.iter().copied().zip(P::schemas(inputs)).collect(),
            source: A::SOURCE,
            params: A::schema(inputs),
            output: outputs.subschema_for::<T::Wire>(),
            statuses: [&[self.status], T::STATUSES].concat(),
            headers: T::HEADERS,
        }
    }

    fn check_path(&self, path: RawPathParams<'_>) -> Result<(), ApiError> {
        Self::parse_path(path).map(drop)
    }

    fn decode(
        &'static self,
        operation_id: &'static str,
        head: &Parts,
        path: RawPathParams<'_>,
        body: Option<InputValue<'_>>,
        caller: &Caller,
    ) -> Result<Box<dyn Invocation>, ApiError> {
        let path = Self::parse_path(path)?;
        let value = match body {
            Some(value) => value,
            None => query::parse(head.uri.query())?,
        };
        let mut params = A::decode(value, &head.method)?;
        let owner = caller.user_id().filter(|_| C::NEEDS_TOKEN);
        let cursor_scope = bind_cursor(&mut params, head.uri.path(), owner)?;
        Ok(Box::new(TypedInvocation {
            handler: self,
            operation_id,
            path,
            params,
            cursor_scope,
        }))
    }
}

/// The list that a request asks for; its cursor becomes the host's position.
fn bind_cursor(
    params: &mut impl Params,
    path: &str,
    owner: Option<&UserId>,
) -> Result<Option<CursorScope>, ApiError> {
    if params.after().is_none() {
        return Ok(None);
    }
    let scope = CursorScope::new(path, params, owner).map_err(ApiError::internal)?;
    if let Some(Some(after)) = params.after() {
        *after = scope.decode(after.as_str())?;
    }
    Ok(Some(scope))
}

struct TypedInvocation<C: 'static, P: 'static, A: 'static, T: 'static> {
    handler: &'static Handler<C, P, A, T>,
    operation_id: &'static str,
    path: P,
    params: A,
    cursor_scope: Option<CursorScope>,
}

impl<C: CallerKind, P: PathParams, A: Params, T: ToWire> Invocation
    for TypedInvocation<C, P, A, T>
{
    fn place(&self) -> ResourceRef<'_> {
        self.path.place()
    }

    fn member(&self) -> Option<&UserRef> {
        self.path.member()
    }

    fn run<'a>(
        self: Box<Self>,
        board: &'a dyn Board,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<ApiResponse, ApiError>> {
        Box::pin(async move {
            let kind = C::of(caller);
            let kind =
                kind.ok_or_else(|| ApiError::internal("a guest reached a member's endpoint"))?;
            let Handler { function, status } = self.handler;
            let context = RenderContext {
                caller,
                cursor_scope: self.cursor_scope,
                operation_id: self.operation_id,
            };
            let result = function(board, kind, self.path, self.params).await?;
            render(*status, result.to_wire(&context)?)
        })
    }
}

fn render<T: serde::Serialize>(
    status: StatusCode,
    rendered: Rendered<T>,
) -> Result<ApiResponse, ApiError> {
    let status = rendered.status.unwrap_or(status);
    let mut body = Vec::new();
    if status != StatusCode::NO_CONTENT {
        body.reserve(INITIAL_CAPACITY);
        serde_json::to_writer(&mut body, &rendered.wire).map_err(ApiError::internal)?;
    }
    Ok(ApiResponse {
        status,
        location: rendered.location.filter(|_| status == StatusCode::CREATED),
        next: rendered.next,
        resource: rendered.resource,
        ..ApiResponse::ok(Bytes::from(body))
    })
}
