//! The steps that every request passes, in order (`docs/protocol.md`, section 2.1).

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use http::request::Parts;
use http_body_util::Full;
use tracing::Instrument;

use super::context::{ApiInner, Malformed, RequestContext};
use super::endpoint::{ApiEndpoint, Invocation};
use super::error::{ApiError, AuthFailure};
use super::extract::body::{self, LazyBody};
use super::extract::error::InputError;
use super::extract::params::{NoParams, Params, Source};
use super::extract::path::RawPathParams;
use super::extract::query;
use super::request_id::Hex128;
use super::response::{ApiResponse, ResponseContext};
use super::router::{self, Route};
use super::{access, authentication, idempotency, trace};
use crate::host::{Caller, MemberCaller};
use crate::http_util::run;
use crate::metrics::recorder;
use crate::model::Expected;
use crate::rate_limit::RateLimitKey;
use crate::store::{IdempotentRequest, Reservation};
use crate::task::{catch_panic, spawn_and_join};

/// A request that passed steps 1 to 7.
struct DecodedRequest {
    endpoint: &'static ApiEndpoint,
    caller: Caller,
    invocation: Box<dyn Invocation>,
    /// `None` without an `Idempotency-Key`.
    attempt: Option<IdempotentRequest>,
}

impl ApiInner {
    pub(super) async fn handle(
        self: &Arc<Self>,
        mut head: Parts,
        body: LazyBody<'_>,
    ) -> Response<Full<Bytes>> {
        let context = self.begin(&mut head);
        let span = trace::request_span(&context);
        self.respond(context, body).instrument(span).await
    }

    async fn respond(
        self: &Arc<Self>,
        mut context: RequestContext<'_>,
        body: LazyBody<'_>,
    ) -> Response<Full<Bytes>> {
        let outcome = {
            // Pinned here: a future that is passed on by value would be stored twice.
            let pipeline = pin!(self.run_pipeline(&mut context, body));
            run(
                &*self.environment.runtime,
                self.settings.request_timeout,
                pipeline,
            )
            .await
        };
        let result = outcome.unwrap_or_else(|| Err(timeout_error(context.reading_body)));
        let response = result.unwrap_or_else(|error| self.refuse(&error, context.id));
        let code = response.code;
        let response = ResponseContext {
            head: context.head,
            base_path: &self.settings.base_path,
            request_id: context.id.as_str(),
            charge: context
                .charge
                .unwrap_or_else(|| self.untouched_budget(&context)),
            is_private: context.endpoint.is_some_and(ApiEndpoint::is_private),
            is_conditional: context.route.is_some()
                && context.endpoint.is_none_or(ApiEndpoint::is_conditional),
        }
        .respond(response);
        let (status, elapsed) = (
            response.status(),
            self.environment
                .clock
                .now()
                .saturating_duration_since(context.received_at),
        );
        trace::on_response(&context, status, code, elapsed);
        recorder::record_request(&context.head.method, context.route, status, code, elapsed);
        response
    }

    /// Steps 1 to 10. The first step that refuses gives the response.
    async fn run_pipeline(
        self: &Arc<Self>,
        context: &mut RequestContext<'_>,
        body: LazyBody<'_>,
    ) -> Result<ApiResponse, ApiError> {
        let head = context.head;
        if let Some(Malformed { header, expected }) = head.extensions.get() {
            return Err(InputError::phrase(header, expected).into());
        }

        // 1. Routing
        let (surface, base_path) = (self.environment.surface, &self.settings.base_path);
        let route = router::match_route(surface, base_path, &head.method, head.uri.path());
        let (endpoint, path) = match route {
            Some(Route::Endpoint(endpoint, path)) => (endpoint, path),
            Some(Route::OpenApi) => return self.serve_openapi(context).await,
            None => return Err(self.charge_guest(context, ApiError::NoSuchRoute).await),
        };
        context.endpoint = Some(endpoint);
        context.route = Some(endpoint.path);

        // 2. Authentication
        let (headers, now) = (&head.headers, context.received_at);
        let tokens = &*self.stores.tokens;
        let token = match authentication::authenticate(headers, tokens, surface, now).await {
            Ok(None) if endpoint.handler.needs_token() => Err(AuthFailure::Absent.into()),
            result => result,
        };
        let token = match token {
            Err(error @ ApiError::Unauthenticated(_)) => {
                return Err(self.charge_guest(context, error).await);
            }
            result => result?,
        };
        token.iter().for_each(trace::record_identity);

        // 3. Rate limiting
        let presented = token.as_ref().map(|token| &token.presented);
        let key = presented.map_or(context.guest_key, |token| RateLimitKey::Token(token.lookup));
        self.charge_or_reject(context, &key, endpoint.cost).await?;

        // 4. Scope check, 5. access, 6. online check
        access::require_scope(presented, endpoint.scope)?;
        let caller = access::resolve_caller(token, &*self.authority).await?;
        access::require_online(&caller)?;

        // 7. Input decoding
        let request = decode(context, endpoint, path, caller, body).await?;

        // 8. Visibility check, 9. idempotency, 10. handler
        if endpoint.has_side_effects {
            self.run_detached(request, context.id).await
        } else {
            self.run_request(request, &mut None).await
        }
    }

    /// The OpenAPI document. The token is ignored and nothing is charged; the headers show the address's budget.
    async fn serve_openapi(
        &self,
        context: &mut RequestContext<'_>,
    ) -> Result<ApiResponse, ApiError> {
        context.route = Some(router::DOCUMENT);
        let key = context.guest_key;
        self.charge(context, &key, 0).await?;
        let Parts { uri, method, .. } = context.head;
        let NoParams {} = NoParams::decode(query::parse(uri.query())?, method)?;
        Ok(ApiResponse::ok(self.document.clone()))
    }

    /// Runs a request with side effects to its end, even if the client hangs up, and waits for its response.
    async fn run_detached(
        self: &Arc<Self>,
        request: DecodedRequest,
        id: Hex128,
    ) -> Result<ApiResponse, ApiError> {
        let inner = Arc::clone(self);
        let work = async move {
            let mut ticket = None;
            let result = catch_panic(inner.run_request(request, &mut ticket)).await;
            if let Some(ticket) = ticket {
                let store = &*inner.stores.idempotency;
                idempotency::complete(store, &ticket, &result, id.as_str()).await;
            }
            result.unwrap_or_else(|error| inner.refuse(&error, id))
        };
        let response = spawn_and_join(&*self.environment.runtime, work).await;
        response.ok_or_else(|| ApiError::internal("the runtime dropped a write"))
    }

    /// Steps 8 to 10. `ticket` is set when the key of the request is new: its outcome must be recorded.
    async fn run_request(
        &self,
        request: DecodedRequest,
        ticket: &mut Option<Reservation>,
    ) -> Result<ApiResponse, ApiError> {
        let (board, caller, invocation) = (&*self.board, &request.caller, &request.invocation);
        let (place, operation_id) = (invocation.place(), request.endpoint.operation_id);
        let is_read = request.endpoint.is_read();
        access::require_visible(board, caller, place, operation_id, is_read).await?;
        if let Some(attempt) = &request.attempt {
            let (store, now) = (&*self.stores.idempotency, self.environment.clock.now());
            match idempotency::begin(store, attempt, now).await? {
                Ok(first) => *ticket = Some(first),
                Err(kept) => {
                    let (resource, member) = (&kept.resource, invocation.member());
                    access::require_replay_visible(board, caller, resource, place, member).await?;
                    return Ok(kept.into());
                }
            }
        }
        request.invocation.run(board, &request.caller).await
    }

    /// The response to a refused request. This is the only place where errors are logged.
    fn refuse(&self, error: &ApiError, id: Hex128) -> ApiResponse {
        trace::log_error(error, id.as_str());
        ApiResponse::refusal(error, &self.settings.error_messages, id.as_str())
    }
}

/// Step 7: path, query, headers and body, in this order. The body is read only when nothing before it is refused.
async fn decode(
    context: &mut RequestContext<'_>,
    endpoint: &'static ApiEndpoint,
    path: RawPathParams<'_>,
    caller: Caller,
    body: LazyBody<'_>,
) -> Result<DecodedRequest, ApiError> {
    let (head, handler) = (context.head, endpoint.handler);
    let operation_id = endpoint.operation_id;
    if handler.source() == Source::Query {
        return Ok(DecodedRequest {
            endpoint,
            invocation: handler.decode(operation_id, head, path, None, &caller)?,
            caller,
            attempt: None,
        });
    }
    handler.check_path(path)?;
    let NoParams {} = NoParams::decode(query::parse(head.uri.query())?, &head.method)?;
    let key = match endpoint.accepts_idempotency_key() {
        true => idempotency::parse_key(&head.headers)?,
        false => None,
    };
    body::require_json(&head.headers)?;
    context.reading_body = true;
    let bytes = body.await.map_err(InputError::from)?;
    context.reading_body = false;
    let value = body::parse(&bytes)?;
    let field_scope = access::require_field_scope(endpoint.field_scope, &value, &caller);
    let invocation = handler.decode(operation_id, head, path, Some(value), &caller)?;
    field_scope?;
    let token = caller.as_member().and_then(MemberCaller::presented);
    let keyed = token.map(|token| token.lookup).zip(key);
    let attempt = keyed.map(|(token, key)| idempotency::fingerprint(token, key, head, &bytes));
    Ok(DecodedRequest {
        endpoint,
        caller,
        invocation,
        attempt,
    })
}

/// A timeout while the body is read is the client's fault.
fn timeout_error(reading_body: bool) -> ApiError {
    if reading_body {
        return InputError::expected("body", Expected::CompleteBodyInTime).into();
    }
    ApiError::internal("the request timed out")
}
