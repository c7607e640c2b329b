//! The service: its state, and the pipeline of steps that a request passes, in order
//! ([protocol](crate::guide::protocol), section 2.1).

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::Response;
#[cfg(feature = "mcp")]
use http::StatusCode;
use http::request::Parts;
use tracing::Instrument;

use super::client_ip::{PeerIp, client_ip};
use super::context::{RequestContext, RequestIdGenerator};
use super::endpoints::{self, Route};
use super::usage::UsageCounters;
use super::{ApiSettings, access, response};
use crate::host::Caller;
use crate::http_util::{LazyBody, OriginalUri, ResponseBody, run};
use crate::metrics::recorder;
use crate::model::{Expected, Timestamp};
#[cfg(feature = "mcp")]
use crate::operation::CachePolicy;
use crate::operation::{
    ApiError, ApiResponse, AuthFailure, Call, InputError, MalformedRequest, Operation, Services,
    reject_query, require_scope,
};
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use crate::scope::Scope;

/// Label of the rate limit store in the metrics.
const STORE: &str = "budgets";

/// State shared by all clones of a [`ForumApi`](crate::ForumApi).
pub(super) struct ApiInner {
    pub(super) services: Arc<Services>,
    pub(super) settings: ApiSettings,
    /// The operations of the surface.
    pub(super) operations: Vec<Operation>,
    pub(super) request_ids: RequestIdGenerator,
    /// The OpenAPI document as JSON.
    pub(super) document: Bytes,
    pub(super) peer_ip: Box<PeerIp>,
    pub(super) original_uri: Box<OriginalUri>,
    pub(super) warned_no_peer_ip: AtomicBool,
    pub(super) usage: UsageCounters,
}

/// A request that has no response yet. If the client disconnects, the server drops it; `drop` then logs and counts the
/// request.
struct PendingRequest<'a, 'h> {
    api: &'a ApiInner,
    context: RequestContext<'h>,
    is_finished: bool,
}

impl Drop for PendingRequest<'_, '_> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.context.log_disconnect();
            self.api.usage.record(&self.context.usage(None));
        }
    }
}

/// Request to the service, besides its head.
pub(crate) enum Target<'a> {
    /// A request that routing assigns to an operation, with its body.
    Route(LazyBody<'a>),
    /// A request of another protocol that calls no operation.
    #[cfg(feature = "mcp")]
    Protocol(ProtocolRequest<'a>),
}

/// A request of another protocol that calls no operation, such as the list of its tools. It passes authentication, rate
/// limiting, access and online check.
#[cfg(feature = "mcp")]
pub(crate) struct ProtocolRequest<'a> {
    /// The protocol, in place of the path template in logs and metrics.
    pub(crate) route: &'static str,
    /// Units that the request is charged.
    pub(crate) cost: u32,
    /// Returns status and body of the response.
    pub(crate) respond: &'a (dyn Fn(&Caller) -> (StatusCode, Bytes) + Send + Sync),
}

impl ApiInner {
    /// Creates the context of a request and returns the response.
    pub(super) async fn handle(
        self: &Arc<Self>,
        head: Parts,
        target: Target<'_>,
    ) -> Response<ResponseBody> {
        let received_at = self.services.environment.clock.now();
        let id = self.request_ids.next(received_at);
        let client_ip = self.client_ip(&head);
        let guest_key = self.guest_key(client_ip);
        let context = RequestContext::new(&head, id, client_ip, guest_key, received_at);
        let span = context.span();
        self.respond(context, target).instrument(span).await
    }

    /// Runs the pipeline and converts its result to HTTP. Panics of the pipeline are caught here, except in requests with
    /// side effects.
    async fn respond(
        self: &Arc<Self>,
        context: RequestContext<'_>,
        target: Target<'_>,
    ) -> Response<ResponseBody> {
        let mut pending = PendingRequest {
            api: self,
            context,
            is_finished: false,
        };
        let context = &mut pending.context;
        let outcome = {
            // Pinned here, because a future that is passed by value would be stored twice.
            let pipeline = pin!(self.run_target(context, target));
            let runtime = &*self.services.environment.runtime;
            run(runtime, self.settings.request_timeout, pipeline).await
        };
        let result = outcome.unwrap_or_else(|| Err(timeout_error(context.reading_body)));
        let response = self.finish(result, context, self.services.environment.clock.now());
        pending.is_finished = true;
        response
    }

    /// Converts the result of the pipeline to HTTP, logs it and counts it.
    fn finish(
        &self,
        result: Result<ApiResponse, ApiError>,
        context: &RequestContext<'_>,
        now: Timestamp,
    ) -> Response<ResponseBody> {
        let response =
            result.unwrap_or_else(|error| self.services.error_response(&error, context.id));
        let code = response.code;
        let charge = context
            .charge
            .unwrap_or_else(|| self.untouched_budget(context));
        let response = response::into_http(response, context, &self.settings.base_path, charge);
        let status = response.status();
        let elapsed = now.saturating_duration_since(context.received_at);
        context.log_response(status, code, elapsed);
        self.usage.record(&context.usage(Some(status)));
        recorder::record_request(&context.head.method, context.route, status, code, elapsed);
        response
    }

    async fn run_target(
        self: &Arc<Self>,
        context: &mut RequestContext<'_>,
        target: Target<'_>,
    ) -> Result<ApiResponse, ApiError> {
        if let Some(MalformedRequest { header, expected }) = context.head.extensions.get() {
            return Err(InputError::expected(*header, *expected).into());
        }
        match target {
            Target::Route(body) => self.run_pipeline(context, body).await,
            #[cfg(feature = "mcp")]
            Target::Protocol(request) => self.run_protocol(context, request).await,
        }
    }

    /// Runs steps 1 to 10. The first step that rejects the request determines the response.
    async fn run_pipeline(
        self: &Arc<Self>,
        context: &mut RequestContext<'_>,
        body: LazyBody<'_>,
    ) -> Result<ApiResponse, ApiError> {
        let head = context.head;

        // 1. Routing
        let operations = &self.operations;
        let base_path = &self.settings.base_path;
        let route = endpoints::match_route(operations, base_path, &head.method, head.uri.path());
        let (Operation { spec, handler }, path) = match route {
            Some(Route::Operation(operation, path)) => (operation, path),
            Some(Route::OpenApi) => return self.serve_openapi(context).await,
            None => return Err(self.charge_guest(context, ApiError::NoSuchRoute).await),
        };
        context.route = Some(spec.path);
        context.cache_policy = spec.cache_policy;
        context.is_conditional = spec.is_conditional();

        let needs_token = handler.needs_token();
        let cost = spec.cost;
        let caller = self
            .admit(context, needs_token, cost, Some(spec.scope))
            .await?;

        // 7. Input decoding, 8. visibility check, 9. idempotency, 10. handler
        let call = Call {
            services: &self.services,
            head,
            id: context.id,
            reading_body: &mut context.reading_body,
            operation: spec,
            path,
            caller,
            body,
        };
        handler.call(call).await
    }

    /// Runs steps 2 to 6. `scope` is the scope that a token needs.
    async fn admit(
        &self,
        context: &mut RequestContext<'_>,
        needs_token: bool,
        cost: u32,
        scope: Option<Scope>,
    ) -> Result<Caller, ApiError> {
        // 2. Authentication
        let headers = &context.head.headers;
        let now = context.received_at;
        let scopes = &self.services.scopes;
        let stores = &self.services.stores;
        let known = &mut context.token;
        let authenticated = match access::authenticate(headers, stores, scopes, now, known).await {
            Ok(None) if needs_token => Err(AuthFailure::Absent.into()),
            result => result,
        };
        let token = match authenticated {
            Err(error @ ApiError::Unauthenticated(_)) => {
                return Err(self.charge_guest(context, error).await);
            }
            result => result?,
        };
        if let Some(token) = &token {
            let owner = &token.owner;
            let lookup = token.presented.lookup.as_str();
            tracing::record_all!(tracing::Span::current(), owner = %owner, token = lookup);
        }

        // 3. Rate limiting
        let presented = token.as_ref().map(|token| &token.presented);
        let key = presented.map_or(context.guest_key, |token| RateLimitKey::Token(token.lookup));
        self.charge_or_reject(context, key, cost).await?;

        // 4. Scope check, 5. access, 6. online check
        if let Some(scope) = scope {
            require_scope(presented, scope)?;
        }
        let request = context.request_info();
        let authorizer = &*self.services.host.authorizer;
        let caller = access::resolve_caller(token, request, authorizer).await?;
        access::require_online(&caller)?;
        Ok(caller)
    }

    #[cfg(feature = "mcp")]
    async fn run_protocol(
        &self,
        context: &mut RequestContext<'_>,
        request: ProtocolRequest<'_>,
    ) -> Result<ApiResponse, ApiError> {
        context.route = Some(request.route);
        context.cache_policy = CachePolicy::NoStore;
        let caller = self.admit(context, false, request.cost, None).await?;
        let (status, body) = (request.respond)(&caller);
        Ok(ApiResponse {
            status,
            body,
            ..ApiResponse::default()
        })
    }

    /// Serves the OpenAPI document. Ignores the token and charges nothing; the headers show the address budget.
    async fn serve_openapi(
        &self,
        context: &mut RequestContext<'_>,
    ) -> Result<ApiResponse, ApiError> {
        context.route = Some(endpoints::OPENAPI_PATH);
        context.is_conditional = true;
        self.charge(context, context.guest_key, 0).await?;
        reject_query(context.head)?;
        Ok(ApiResponse {
            body: self.document.clone(),
            ..ApiResponse::default()
        })
    }

    /// Returns the client's address; `None` if the server does not know the peer.
    fn client_ip(&self, head: &Parts) -> Option<IpAddr> {
        if let Some(peer) = (self.peer_ip)(head) {
            return Some(client_ip(
                peer,
                &head.headers,
                &self.settings.trusted_proxies,
            ));
        }
        if !self.warned_no_peer_ip.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "client IP unknown; all such guests share one budget (see ForumApiBuilder::peer_ip)"
            );
        }
        None
    }

    /// Returns the key of the budget of a client's address.
    fn guest_key(&self, client_ip: Option<IpAddr>) -> RateLimitKey {
        client_ip.map_or(RateLimitKey::UnknownAddress, |address| {
            RateLimitKey::Prefix(self.settings.address_prefix(address))
        })
    }

    /// Charges `cost` units, or rejects the request without charging it.
    async fn charge_or_reject(
        &self,
        context: &mut RequestContext<'_>,
        key: RateLimitKey,
        cost: u32,
    ) -> Result<(), ApiError> {
        let charge = self.charge(context, key, cost).await?;
        if charge.allowed {
            return Ok(());
        }
        let wait = charge
            .resets_at
            .saturating_duration_since(charge.charged_at);
        Err(ApiError::RateLimited(wait))
    }

    /// Charges one unit to the client's address budget when routing or authentication fails with `error`.
    ///
    /// Returns `error` even if the budget is exhausted. A failure of the store replaces it.
    async fn charge_guest(&self, context: &mut RequestContext<'_>, error: ApiError) -> ApiError {
        let charge = self.charge(context, context.guest_key, 1).await;
        charge.err().unwrap_or(error)
    }

    /// Charges a budget and keeps the decision for the response headers. An exhausted budget is not an error.
    async fn charge(
        &self,
        context: &mut RequestContext<'_>,
        key: RateLimitKey,
        cost: u32,
    ) -> Result<RateLimitDecision, ApiError> {
        let (label, budget) = self.budget(key);
        let now = self.services.environment.clock.now();
        let charge = self
            .services
            .stores
            .rate_limits
            .charge(&key, cost, budget, now)
            .await
            .inspect_err(|_| recorder::record_store_error(STORE))?;
        recorder::record_charge(label, cost, charge.allowed);
        context.charged_units = Some(if charge.allowed { cost } else { 0 });
        context.charge = Some(charge);
        Ok(charge)
    }

    /// Returns a full budget for the headers of a request that failed before it was charged.
    fn untouched_budget(&self, context: &RequestContext<'_>) -> RateLimitDecision {
        let (_, budget) = self.budget(context.guest_key);
        budget.charge(None, 0, context.received_at).1
    }

    /// Returns the budget of a key, with its label in the metrics.
    const fn budget(&self, key: RateLimitKey) -> (&'static str, Budget) {
        match key {
            RateLimitKey::Token(_) => ("token", self.settings.token_budget),
            _ => ("guest", self.settings.guest_budget),
        }
    }
}

/// Returns the error of a timeout: an error of the client if it occurs while the body is read, otherwise an internal
/// error.
fn timeout_error(reading_body: bool) -> ApiError {
    if reading_body {
        return InputError::expected("body", Expected::COMPLETE_BODY_IN_TIME).into();
    }
    ApiError::internal("the request timed out")
}
