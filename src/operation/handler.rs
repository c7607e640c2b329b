//! An operation of the API, and the typed handler that runs it.

use std::sync::Arc;

use http::{Method, StatusCode};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::builder::Tag;
use super::cache_policy::CachePolicy;
use super::call::Call;
use super::error::ApiError;
use super::input::{Input, InputSchema, Source};
use super::output::Output;
use super::path::PathParams;
use super::response::ApiResponse;
use crate::host::{BoardResult, Caller, MemberCaller};
use crate::model::ErrorCode;
use crate::runtime::BoxFuture;
use crate::scope::{Scope, Surface};

/// An operation of the API: its description and the handler that runs it.
pub(crate) struct Operation {
    pub(crate) spec: OperationSpec,
    pub(crate) handler: Arc<dyn Handler>,
}

/// Description of an operation. Everything that a client can observe of an operation comes from this value and from the
/// types of its handler.
#[derive(Debug)]
pub(crate) struct OperationSpec {
    pub(crate) method: Method,
    /// Path below the base path, with variables in braces.
    pub(crate) path: &'static str,
    /// Names of the variables, in the order of the path.
    pub(crate) variables: Vec<&'static str>,
    pub(crate) id: &'static str,
    pub(crate) tag: Tag,
    pub(crate) summary: &'static str,
    /// Further description for the OpenAPI document; may be empty.
    pub(crate) notes: &'static str,
    pub(crate) scope: Scope,
    /// Units that a request is charged.
    pub(crate) cost: u32,
    pub(crate) cache_policy: CachePolicy,
    /// `true` if a request can change data. Such a request completes even if the client disconnects.
    pub(crate) has_side_effects: bool,
    /// Codes of the board's own errors that this operation can return.
    pub(crate) board_errors: &'static [ErrorCode],
    pub(crate) surfaces: &'static [Surface],
}

impl OperationSpec {
    pub(crate) fn is_read(&self) -> bool {
        self.method == Method::GET
    }

    pub(crate) fn accepts_idempotency_key(&self) -> bool {
        self.method == Method::POST
    }

    /// Returns `true` if successful responses have an `etag`.
    pub(crate) fn is_conditional(&self) -> bool {
        self.is_read() && !self.has_side_effects
    }
}

/// The caller type of a handler: any [`Caller`], or only a [`MemberCaller`].
pub(crate) trait CallerKind: Sync + Send + 'static {
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

/// A call of the service `S` with caller `C`, path variables `P`, parameters `A` and result `T`.
pub(crate) type HandlerFn<S, C, P, A, T> =
    for<'a> fn(&'a S, &'a C, P, A) -> BoxFuture<'a, BoardResult<T>>;

/// A [`HandlerFn`] with its service, the status of a successful response, and an example of its result.
pub(crate) struct TypedHandler<S: ?Sized, C, P, A, T: Output> {
    pub(crate) service: Arc<S>,
    pub(crate) function: HandlerFn<S, C, P, A, T>,
    pub(crate) status: StatusCode,
    pub(crate) example: fn() -> T::Body,
}

/// Schemas, examples, statuses and headers of an operation, for the OpenAPI document.
pub(crate) struct OperationSchemas {
    pub(crate) path_params: Vec<(String, Schema)>,
    pub(crate) source: Source,
    pub(crate) input: InputSchema,
    pub(crate) output: Schema,
    pub(crate) output_example: Value,
    /// Statuses of successful responses.
    pub(crate) statuses: Vec<StatusCode>,
    /// Headers that the result adds.
    pub(crate) headers: Vec<&'static str>,
}

/// A [`TypedHandler`] with its types erased.
pub(crate) trait Handler: Send + Sync {
    fn needs_token(&self) -> bool;

    fn describe(
        &self,
        spec: &OperationSpec,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas;

    /// Runs steps 7 to 10.
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<ApiResponse, ApiError>>;
}

impl<S, C, P, A, T> Handler for TypedHandler<S, C, P, A, T>
where
    S: ?Sized + Send + Sync + 'static,
    C: CallerKind,
    P: PathParams,
    A: Input,
    T: Output,
{
    fn needs_token(&self) -> bool {
        C::NEEDS_TOKEN
    }

    fn describe(
        &self,
        spec: &OperationSpec,
        inputs: &mut SchemaGenerator,
        outputs: &mut SchemaGenerator,
    ) -> OperationSchemas {
        let example = (self.example)();
        let is_created = self.status == StatusCode::CREATED;
        let has_location = is_created && T::location(&example).is_some();
        OperationSchemas {
            path_params: P::variables(inputs, &spec.variables),
            source: A::SOURCE,
            input: A::describe(inputs),
            output: outputs.subschema_for::<T::Body>(),
            output_example: json!(example),
            statuses: [(true, self.status), (T::CAN_EXIST, StatusCode::OK)]
                .into_iter()
                .filter_map(|(is_possible, status)| is_possible.then_some(status))
                .collect(),
            headers: [(T::IS_PAGE, "link"), (has_location, "location")]
                .into_iter()
                .filter_map(|(has_header, name)| has_header.then_some(name))
                .collect(),
        }
    }

    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<ApiResponse, ApiError>> {
        Box::pin(call.run(self))
    }
}
