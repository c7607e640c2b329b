//! A row of the endpoint table, and the typed handler that runs it.

use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::cache_policy::CachePolicy;
use super::error::ApiError;
use super::extract::params::{Params, PathParams, RawPathParams, Source};
use super::extract::value::InputValue;
use super::output::{RenderContext, ToWire};
use super::pagination::{self, CursorScope};
use super::response::ApiResponse;
use crate::host::{Board, BoardError, BoardResult, Caller, MemberCaller, ResourceRef};
use crate::model::{ErrorCode, UserRef};
use crate::runtime::BoxFuture;
use crate::scope::{Scope, Surface};

/// Initial capacity of a response body, in bytes.
const INITIAL_CAPACITY: usize = 1024;

/// A row of the endpoint table. Everything that a client can observe of an endpoint comes from its row.
pub(super) struct ApiEndpoint {
    pub(super) method: Method,
    /// Path below the base path, with variables in braces.
    pub(super) path: &'static str,
    pub(super) operation_id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    /// Further description for the OpenAPI document; may be empty.
    pub(super) notes: &'static str,
    pub(super) scope: Scope,
    /// A boolean field of the body, and the additional scope that is required if the field is `true`.
    pub(super) field_scope: Option<(&'static str, Scope)>,
    /// Units that a request is charged.
    pub(super) cost: u32,
    pub(super) cache_policy: CachePolicy,
    /// `true` if a request can change data. Such a request completes even if the client disconnects.
    pub(super) has_side_effects: bool,
    /// Codes of the board's own errors that this endpoint can return.
    pub(super) board_errors: &'static [ErrorCode],
    pub(super) surfaces: &'static [Surface],
    pub(super) handler: &'static dyn ErasedHandler,
}

impl ApiEndpoint {
    pub(super) fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    pub(super) fn accepts_idempotency_key(&self) -> bool {
        self.method == Method::POST
    }

    /// Returns `true` if successful responses have an `etag`.
    pub(super) fn is_conditional(&self) -> bool {
        !self.has_side_effects
    }
}

/// The caller type of a handler: any [`Caller`], or only a [`MemberCaller`].
pub(super) trait CallerKind: Sync + Send + 'static {
    const NEEDS_TOKEN: bool;

    fn from_caller(caller: &Caller) -> Option<&Self>;
}

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

/// A call of a method of the board with caller `C`, path variables `P`, parameters `A` and result `T`.
type HandlerFn<C, P, A, T> =
    for<'a> fn(&'a dyn Board, &'a C, P, A) -> BoxFuture<'a, BoardResult<T>>;

/// A method of the board, the status of a successful response, and an example of its result.
pub(super) struct Handler<C, P, A, T: ToWire> {
    function: HandlerFn<C, P, A, T>,
    status: StatusCode,
    example: fn() -> T::Wire,
}

impl<C, P, A, T: ToWire> Handler<C, P, A, T> {
    pub(super) const fn ok(function: HandlerFn<C, P, A, T>, example: fn() -> T::Wire) -> Self {
        Self {
            function,
            status: StatusCode::OK,
            example,
        }
    }

    pub(super) const fn created(function: HandlerFn<C, P, A, T>, example: fn() -> T::Wire) -> Self {
        Self {
            function,
            status: StatusCode::CREATED,
            example,
        }
    }
}

impl<C, P, A> Handler<C, P, A, ()> {
    pub(super) const fn no_content(function: HandlerFn<C, P, A, ()>) -> Self {
        Self {
            function,
            status: StatusCode::NO_CONTENT,
            example: || (),
        }
    }
}

/// Schemas, examples, statuses and headers of an endpoint, for the OpenAPI document.
pub(super) struct OperationSchemas {
    pub(super) path_params: Vec<(&'static str, Schema)>,
    pub(super) source: Source,
    pub(super) params: Schema,
    /// Example of the body; `None` for parameters in the query.
    pub(super) params_example: Option<Value>,
    pub(super) output: Schema,
    pub(super) output_example: Value,
    /// Statuses of successful responses.
    pub(super) statuses: Vec<StatusCode>,
    /// Headers that the result adds.
    pub(super) headers: &'static [&'static str],
}

/// A [`Handler`] with its types erased.
pub(super) trait ErasedHandler: Sync {
    fn needs_token(&self) -> bool;

    fn source(&self) -> Source;

    fn describe(
        &self,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas;

    /// Parses the path variables: the first part of step 7.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] if no resource can have such an id.
    fn parse_path(
        &'static self,
        endpoint: &'static ApiEndpoint,
        path: RawPathParams<'_>,
        caller: Caller,
    ) -> Result<Box<dyn Invocation>, ApiError>;
}

/// A call of a handler: its caller and decoded input.
pub(super) trait Invocation: Send + Sync {
    fn endpoint(&self) -> &'static ApiEndpoint;

    fn caller(&self) -> &Caller;

    /// Returns the resource that the path names; [`ResourceRef::Global`] if the resource does not belong to a forum.
    fn resource(&self) -> ResourceRef<'_>;

    /// Returns the member that the path names; `None` for other paths.
    fn member(&self) -> Option<&UserRef>;

    /// Decodes the parameters from the query or the body: the last part of step 7.
    fn decode_params(&mut self, head: &Parts, value: InputValue<'_>) -> Result<(), ApiError>;

    /// Runs step 10: calls the board, checks its result and renders it.
    fn run<'a>(
        self: Box<Self>,
        board: &'a dyn Board,
    ) -> BoxFuture<'a, Result<ApiResponse, ApiError>>;
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
        let mut params = A::schema(inputs);
        if A::IS_LIST {
            pagination::add_parameter(&mut params, inputs);
        }
        OperationSchemas {
            path_params: P::NAMES.iter().copied().zip(P::schemas(inputs)).collect(),
            source: A::SOURCE,
            params,
            params_example: A::body_example(),
            output: outputs.subschema_for::<T::Wire>(),
            output_example: json!((self.example)()),
            statuses: [&[self.status], T::STATUSES].concat(),
            headers: T::HEADERS,
        }
    }

    fn parse_path(
        &'static self,
        endpoint: &'static ApiEndpoint,
        path: RawPathParams<'_>,
        caller: Caller,
    ) -> Result<Box<dyn Invocation>, ApiError> {
        Ok(Box::new(TypedInvocation {
            handler: self,
            endpoint,
            caller,
            path: P::parse(path).ok_or(ApiError::NotFound)?,
            params: None,
            cursor_scope: None,
        }))
    }
}

struct TypedInvocation<C: 'static, P: 'static, A: 'static, T: ToWire> {
    handler: &'static Handler<C, P, A, T>,
    endpoint: &'static ApiEndpoint,
    caller: Caller,
    path: P,
    /// `None` until they are decoded.
    params: Option<A>,
    /// The requested list; `None` for an endpoint that is not a list.
    cursor_scope: Option<CursorScope>,
}

impl<C: CallerKind, P: PathParams, A: Params, T: ToWire> Invocation
    for TypedInvocation<C, P, A, T>
{
    fn endpoint(&self) -> &'static ApiEndpoint {
        self.endpoint
    }

    fn caller(&self) -> &Caller {
        &self.caller
    }

    fn resource(&self) -> ResourceRef<'_> {
        self.path.resource()
    }

    fn member(&self) -> Option<&UserRef> {
        self.path.member()
    }

    fn decode_params(&mut self, head: &Parts, mut value: InputValue<'_>) -> Result<(), ApiError> {
        let params = if A::IS_LIST {
            let owner = self.caller.user_id().filter(|_| C::NEEDS_TOKEN);
            let cursor = value.take_text(pagination::AFTER)?;
            let mut params = A::decode(value, &head.method)?;
            let scope = CursorScope::new(head.uri.path(), &params, owner);
            let scope = scope.map_err(ApiError::internal)?;
            if let Some(cursor) = cursor {
                params.set_after(scope.decode(&cursor)?);
            }
            self.cursor_scope = Some(scope);
            params
        } else {
            A::decode(value, &head.method)?
        };
        params.check()?;
        self.params = Some(params);
        Ok(())
    }

    fn run<'a>(
        self: Box<Self>,
        board: &'a dyn Board,
    ) -> BoxFuture<'a, Result<ApiResponse, ApiError>> {
        Box::pin(async move {
            let Self { handler, path, .. } = *self;
            let (Some(caller), Some(params)) = (C::from_caller(&self.caller), self.params) else {
                let operation = self.endpoint.operation_id;
                return Err(ApiError::internal(format!("{operation} ran without input")));
            };
            let context = RenderContext {
                caller: &self.caller,
                cursor_scope: self.cursor_scope,
                operation_id: self.endpoint.operation_id,
            };
            let result = (handler.function)(board, caller, path, params).await;
            let result = result.map_err(|error| match error {
                // The board used `?` to convert an id of the body.
                BoardError::PathNotFound if P::NAMES.is_empty() && A::SOURCE == Source::Body => {
                    ApiError::BodyNotFound
                }
                error => error.into(),
            })?;
            let mut response = ApiResponse {
                status: handler.status,
                ..ApiResponse::default()
            };
            let wire = result.to_wire(&context, &mut response)?;
            if response.status != StatusCode::NO_CONTENT {
                let mut body = Vec::with_capacity(INITIAL_CAPACITY);
                serde_json::to_writer(&mut body, &wire).map_err(ApiError::internal)?;
                response.body = Bytes::from(body);
            }
            Ok(response)
        })
    }
}
