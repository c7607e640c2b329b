//! Steps 7 to 10 of a request: input decoding, visibility check, idempotency and handler.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{IF_MATCH, IF_UNMODIFIED_SINCE};
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use super::checks;
use super::error::{ApiError, ApiResult};
use super::extract::error::{InputError, InputResult};
use super::extract::value::{self, InputValue};
use super::handler::{AdmittedCaller, AdmittedOf, Call, CallerKind, caller_of};
use super::idempotency;
use super::input::{Decode, DecodeContext, Input, Source, reject_query};
use super::output::{Output, Render, RenderContext};
use super::path::PathParams;
use super::response::ApiResponse;
use super::services::Services;
use super::spec::OperationSpec;
use crate::host::{BoardError, BoardResult, RequestId, ResourceRef, WebUrls};
use crate::model::Expected;
use crate::runtime::BoxFuture;
use crate::store::{BeginOutcome, IdempotentRequest};
use crate::task::{catch_panic, spawn_and_join};

/// Capacity in bytes of a new body. Most resources have shorter ones.
const INITIAL_CAPACITY: usize = 1024;

/// Function that runs an operation: takes the host's service, the caller, the path variables and the
/// [`Input`](super::Input), and returns an [`Output`](super::Output).
///
/// A closure without captured variables converts to it.
pub type HandlerFn<S, C, P, A, T> = for<'a> fn(&'a S, &'a C, P, A) -> BoxFuture<'a, BoardResult<T>>;

/// The types of a [`HandlerFn`].
pub trait Signature: Copy + Send + Sync + 'static {
    type Service: ?Sized + Send + Sync + 'static;
    type Caller: CallerKind;
    type Path: PathParams;
    type Input: Input;
    type Output: Output;

    fn call<'a>(
        self,
        service: &'a Self::Service,
        caller: &'a Self::Caller,
        path: Self::Path,
        input: Self::Input,
    ) -> BoxFuture<'a, BoardResult<Self::Output>>;
}

impl<S, C, P, A, T> Signature for HandlerFn<S, C, P, A, T>
where
    S: ?Sized + Send + Sync + 'static,
    C: CallerKind,
    P: PathParams,
    A: Input,
    T: Output,
{
    type Service = S;
    type Caller = C;
    type Path = P;
    type Input = A;
    type Output = T;

    fn call<'a>(
        self,
        service: &'a S,
        caller: &'a C,
        path: P,
        input: A,
    ) -> BoxFuture<'a, BoardResult<T>> {
        self(service, caller, path, input)
    }
}

/// The caller that steps 2 to 6 determine for a handler of type `F`.
pub(super) type CallerOf<F> = AdmittedOf<<F as Signature>::Caller>;

/// A [`HandlerFn`] with its service, the status of a successful response, and an example of its result.
pub(crate) struct TypedHandler<F: Signature> {
    pub(crate) service: Arc<F::Service>,
    pub(crate) function: F,
    pub(crate) status: StatusCode,
    pub(crate) example: fn() -> <F::Output as Output>::Body,
}

impl Call<'_> {
    /// Decodes path, query, headers and body, in this order, and runs the handler. Reads the body only if everything
    /// else is valid.
    ///
    /// A request with side effects runs as a task of its own, which completes even if the client disconnects or the
    /// request times out.
    pub(crate) async fn run<F: Signature>(
        self,
        handler: Arc<TypedHandler<F>>,
        caller: CallerOf<F>,
    ) -> ApiResult<ApiResponse> {
        let Self { services, head, id, spec, path, page_form, body, body_limit } = self;
        let path = F::Path::decode(&path, &spec.variables).ok_or(ApiError::NotFound)?;
        let decode = DecodeContext {
            head,
            owner: caller.list_owner(),
            page_form,
            extra_types: &services.extra_types,
            since_overlap: services.environment.since_overlap,
            thread_since_overlap: services.environment.thread_since_overlap,
        };
        let is_guest = caller.token().is_none();
        let (input, key, bytes) = match F::Input::SOURCE {
            Source::Query => {
                let query = InputValue::from_query(head.uri.query())?;
                let input = F::Input::decode(query, &decode)?;
                (input, check_headers(head, spec, is_guest)?, Bytes::new())
            }
            Source::Body => {
                reject_query(head)?;
                let key = check_headers(head, spec, is_guest)?;
                value::require_json(&head.headers)?;
                let bytes = body.read(body_limit).await.map_err(InputError::from)?;
                let input = F::Input::decode(InputValue::from_json(&bytes)?, &decode)?;
                (input, key, bytes)
            }
        };
        let token = caller.token();
        if let Some(scope) = input.required_scope() {
            checks::require_scope(token, scope)?;
        }
        let request = token
            .zip(key)
            .map(|(token, key)| idempotency::fingerprint(token.lookup, key, head, &bytes));
        let execution = Execution { handler, spec: Arc::clone(spec), caller, request, id };
        if !spec.has_side_effects {
            return execution.run(services, path, input).await;
        }
        let detached = Arc::clone(services);
        let work = async move {
            let execution = pin!(execution.run(&detached, path, input));
            let result = catch_panic(execution).await;
            result.unwrap_or_else(|error| detached.error_response(&error, id))
        };
        let response = spawn_and_join(&*services.environment.runtime, work).await;
        response.ok_or_else(|| ApiError::internal("the runtime dropped a write"))
    }
}

/// Checks the headers of a request. Returns its idempotency key; `None` if it has none, or the operation does not accept
/// one.
fn check_headers(
    head: &Parts,
    spec: &OperationSpec,
    is_guest: bool,
) -> InputResult<Option<String>> {
    if !spec.is_read() {
        reject_conditions(&head.headers)?;
    }
    if !spec.accepts_idempotency_key() {
        return Ok(None);
    }
    idempotency::parse_key(&head.headers, is_guest)
}

/// Rejects the conditions of HTTP on a change, which the API does not check: a client must not believe that it did.
fn reject_conditions(headers: &HeaderMap) -> InputResult<()> {
    match [IF_MATCH, IF_UNMODIFIED_SINCE].iter().find(|name| headers.contains_key(*name)) {
        Some(name) => Err(InputError::expected(name.as_str(), Expected::NO_CONDITION)),
        None => Ok(()),
    }
}

/// A call whose input is decoded. Its methods borrow it, because each future that holds it would store it twice.
struct Execution<F: Signature> {
    handler: Arc<TypedHandler<F>>,
    spec: Arc<OperationSpec>,
    caller: CallerOf<F>,
    /// Key and hash of the request; `None` without an idempotency key.
    request: Option<IdempotentRequest>,
    id: RequestId,
}

impl<F: Signature> Execution<F> {
    /// Runs steps 8 to 10.
    async fn run(
        &self,
        services: &Services,
        path: F::Path,
        input: F::Input,
    ) -> ApiResult<ApiResponse> {
        let board = &*services.host.board;
        let caller = &self.caller;
        let resource = path.resource();
        if self.spec.has_side_effects || matches!(resource, ResourceRef::Forum(_)) {
            checks::require_visible(board, caller, resource, self.spec.id).await?;
        }
        let mut reservation = None;
        if let Some(request) = &self.request {
            let reserved = match idempotency::begin(services, request).await? {
                BeginOutcome::Reserved(reserved) => Ok(reserved),
                BeginOutcome::Replay(stored) => {
                    let shown = &stored.resource;
                    checks::require_replay_visible(board, caller, resource, shown).await?;
                    return stored.try_into();
                }
                BeginOutcome::InProgress => Err(ApiError::KeyInProgress),
                BeginOutcome::OutcomeUnknown => Err(ApiError::KeyOutcomeUnknown),
                BeginOutcome::KeyReused => Err(ApiError::KeyReused),
            };
            if reserved.is_err() {
                checks::require_exists(board, caller, resource).await?;
            }
            reservation = Some(reserved?);
        }
        // Pinned here, because a future that is passed by value would be stored twice.
        let web_urls = &services.environment.web_urls;
        let handler = pin!(self.run_handler(path, input, web_urls));
        let Some(reservation) = reservation else {
            return handler.await;
        };
        let result = catch_panic(handler).await;
        idempotency::complete(services, reservation, &result, self.id.as_str()).await;
        result
    }

    /// Runs step 10: calls the board, checks its result and renders it.
    async fn run_handler(
        &self,
        path: F::Path,
        input: F::Input,
        web_urls: &WebUrls,
    ) -> ApiResult<ApiResponse> {
        let handler = &self.handler;
        let context = RenderContext {
            access: self.caller.access(),
            is_guest: self.caller.token().is_none(),
            cursor_scope: input.cursor_scope(),
            operation_id: self.spec.id,
            status: handler.status,
            names_member: matches!(path.resource(), ResourceRef::Member(_)),
            web_urls,
        };
        let caller = caller_of::<F::Caller>(&self.caller);
        let result = handler.function.call(&handler.service, caller, path, input).await.map_err(
            |error| match error {
                // The board used `?` to convert an id of the body.
                BoardError::PathNotFound
                    if self.spec.variables.is_empty() && F::Input::SOURCE == Source::Body =>
                {
                    ApiError::BodyNotFound
                }
                error => error.into(),
            },
        )?;
        let (wire, response) = result.render(&context)?;
        let status = response.status;
        let body = match status {
            StatusCode::NO_CONTENT => Bytes::new(),
            _ => {
                let mut bytes = Vec::with_capacity(INITIAL_CAPACITY);
                serde_json::to_writer(&mut bytes, &wire).map_err(ApiError::internal)?;
                // Without the unused capacity, because a slow client can keep the body for long.
                Bytes::copy_from_slice(&bytes)
            }
        };
        Ok(ApiResponse {
            body,
            location: response.location.filter(|_| status == StatusCode::CREATED),
            ..response
        })
    }
}
