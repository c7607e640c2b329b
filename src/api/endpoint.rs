//! A row of the endpoint table, and the typed handler that runs it.

use http::{Method, StatusCode};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::cache_policy::CachePolicy;
use super::call::Call;
use super::error::ApiError;
use super::extract::params::{Params, PathParams, Source};
use super::output::ToWire;
use super::pagination;
use super::response::ApiResponse;
use crate::host::{Board, BoardResult, Caller, MemberCaller};
use crate::model::ErrorCode;
use crate::runtime::BoxFuture;
use crate::scope::{Scope, Surface};

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
    pub(super) function: HandlerFn<C, P, A, T>,
    pub(super) status: StatusCode,
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
    /// A boolean field of the body, and the additional scope that is required if the field is `true`.
    pub(super) field_scope: Option<(&'static str, Scope)>,
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

    fn describe(
        &self,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas;

    /// Runs steps 7 to 10.
    fn call<'a, 'h: 'a>(
        &'static self,
        call: Call<'a, 'h>,
    ) -> BoxFuture<'a, Result<ApiResponse, ApiError>>;
}

impl<C: CallerKind, P: PathParams, A: Params, T: ToWire> ErasedHandler for Handler<C, P, A, T> {
    fn needs_token(&self) -> bool {
        C::NEEDS_TOKEN
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
            field_scope: A::FIELD_SCOPE.map(|field| (field.field, field.scope)),
            output: outputs.subschema_for::<T::Wire>(),
            output_example: json!((self.example)()),
            statuses: [&[self.status], T::STATUSES].concat(),
            headers: T::HEADERS,
        }
    }

    fn call<'a, 'h: 'a>(
        &'static self,
        call: Call<'a, 'h>,
    ) -> BoxFuture<'a, Result<ApiResponse, ApiError>> {
        Box::pin(call.run(self))
    }
}
