//! The service: its state, and the pipeline of steps that a request passes, in order
//! ([protocol](crate::guide::protocol), section 2.1).

use std::future::Future;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::access::{self, AuthenticatedHandler, RequestToken};
use super::client_ip::{PeerIp, client_ip};
use super::context::{RequestContext, RequestIdGenerator};
use super::endpoints::{self, Route};
use super::usage::UsageCounters;
use super::{ApiSettings, openapi, response};
use crate::host::RequestEvents;
use crate::http_util::{OriginalUri, RequestBody, ResponseBody};
use crate::metrics::recorder;
use crate::model::{Expected, PageForm};
use crate::operation::{
    AdmittedCaller, ApiError, ApiResponse, ApiResult, Call, GuestOrOwner, InputError,
    MalformedRequest, Operation, OperationSpec, PathSegments, Services, TokenOwner, reject_query,
};
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use crate::scope::Scope;
use crate::task::{catch_panic, timeout};
use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::Value;

/// Label of the rate limit store in the metrics.
const STORE: &str = "budgets";

/// State shared by all clones of a [`ForumApi`](crate::ForumApi).
pub(crate) struct ApiInner {
    pub(crate) services: Arc<Services>,
    pub(crate) settings: ApiSettings,
    /// The operations of the surface.
    pub(crate) operations: Vec<Operation>,
    pub(super) request_ids: RequestIdGenerator,
    /// The OpenAPI document as JSON, after the first request of it.
    pub(super) document: OnceLock<Bytes>,
    pub(super) peer_ip: Box<PeerIp>,
    pub(super) original_uri: Box<OriginalUri>,
    pub(super) warned_no_peer_ip: AtomicBool,
    pub(super) usage: UsageCounters,
}

/// The operation that a request calls, after steps 1 and 2.
pub(crate) struct Target<'a> {
    pub(crate) spec: &'a Arc<OperationSpec>,
    pub(crate) handler: AuthenticatedHandler<'a>,
    pub(crate) path: PathSegments<'a>,
    pub(crate) page_form: PageForm,
}

/// A request that has no response yet. If the client disconnects, the server drops it; `drop` then logs and counts the
/// request.
pub(crate) struct PendingRequest<'a> {
    api: &'a ApiInner,
    pub(crate) context: RequestContext<'a>,
    is_finished: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.context.log_disconnect();
            self.api.usage.record(&self.context.usage(None));
        }
    }
}

impl PendingRequest<'_> {
    /// Converts the outcome of [`ApiInner::run`] to HTTP, logs it and counts it.
    pub(crate) fn finish(
        mut self,
        outcome: Option<ApiResult<ApiResponse>>,
        body: &RequestBody,
    ) -> Response<ResponseBody> {
        let Self { api, context, .. } = &self;
        let result = outcome.unwrap_or_else(|| Err(timeout_error(body)));
        let now = api.services.environment.clock.now();
        let response =
            result.unwrap_or_else(|error| api.services.error_response(&error, context.id));
        let code = response.code;
        let reason = response.reason.clone();
        let is_new = response.status == StatusCode::CREATED && !response.replayed;
        let created = is_new.then(|| response.body.clone());
        let charge = context.charge.unwrap_or_else(|| api.untouched_budget(context));
        let response = response::into_http(response, context, &api.settings.base_path, charge);
        let status = response.status();
        let elapsed = now.saturating_duration_since(context.received_at);
        context.log_response(status, code, reason.as_deref(), elapsed, created.as_deref());
        api.usage.record(&context.usage(Some(status)));
        recorder::record_request(&context.head.method, context.route, status, code, elapsed);
        if let Some(reason) = reason {
            recorder::record_error_reason(&context.head.method, context.route, &reason);
        }
        self.is_finished = true;
        response
    }
}

impl ApiInner {
    /// Creates the context of a request.
    pub(crate) fn begin<'a>(&'a self, head: &'a Parts) -> PendingRequest<'a> {
        let received_at = self.services.environment.clock.now();
        let id = self.request_ids.next(received_at);
        let client_ip = self.client_ip(head);
        let guest_key = self.guest_key(client_ip);
        PendingRequest {
            api: self,
            context: RequestContext::new(head, id, client_ip, guest_key, received_at),
            is_finished: false,
        }
    }

    /// Runs the steps of a request. Catches panics, except in the last steps of a request with side effects, in which
    /// [`Call`] catches them. Returns `None` after the request timeout.
    pub(crate) async fn run(
        &self,
        steps: impl Future<Output = ApiResult<ApiResponse>>,
    ) -> Option<ApiResult<ApiResponse>> {
        let runtime = &*self.services.environment.runtime;
        timeout(runtime, self.settings.request_timeout, catch_panic(steps)).await
    }

    /// Runs steps 1 to 10 of a request over HTTP. The first step that rejects the request determines the response.
    pub(super) async fn run_pipeline(
        self: &Arc<Self>,
        context: &mut RequestContext<'_>,
        body: &mut RequestBody,
    ) -> ApiResult<ApiResponse> {
        self.reject_malformed(context).await?;

        // 1. Routing
        let (operation, path) = match self.route(context.head) {
            Some(Route::Operation(operation, path)) => (operation, path),
            Some(Route::OpenApi) => return self.serve_openapi(context).await,
            None => return Err(self.charge_guest(context, ApiError::NoSuchRoute).await),
        };
        let spec = &operation.spec;
        context.route = Some(spec.path);
        context.operation = Some(spec.id);
        context.cache_policy = spec.cache_policy;
        context.is_conditional = spec.is_conditional();

        // 2. Authentication
        let token = self.authenticate(context).await?;
        let handler = match AuthenticatedHandler::new(&operation.handler, token) {
            Ok(handler) => handler,
            Err(failure) => return Err(self.charge_guest(context, failure.into()).await),
        };

        // 3. Rate limiting
        self.charge_caller(context, handler.token(), spec.cost).await?;

        // 4. to 10.
        let target = Target { spec, handler, path, page_form: PageForm::Body };
        self.call(context, target, body).await
    }

    /// Rejects a request that the HTTP server in front of the API marked as malformed, and charges it to the address.
    pub(crate) async fn reject_malformed(&self, context: &mut RequestContext<'_>) -> ApiResult<()> {
        let Some(refused) = context.head.extensions.get::<MalformedRequest>() else {
            return Ok(());
        };
        let error = InputError::expected(refused.header, refused.expected);
        Err(self.charge_guest(context, error.into()).await)
    }

    /// Runs step 1. Returns `None` for an unknown route.
    pub(crate) fn route<'a>(&'a self, head: &'a Parts) -> Option<Route<'a>> {
        let base_path = &self.settings.base_path;
        endpoints::match_route(&self.operations, base_path, &head.method, head.uri.path())
    }

    /// Runs step 2, but accepts a request without a token. Returns the valid token of the request; `None` for a guest.
    pub(crate) async fn authenticate(
        &self,
        context: &mut RequestContext<'_>,
    ) -> ApiResult<Option<RequestToken>> {
        match self.valid_token(context).await {
            Err(error @ ApiError::Unauthenticated(_)) => {
                Err(self.charge_guest(context, error).await)
            }
            result => result,
        }
    }

    async fn valid_token(
        &self,
        context: &mut RequestContext<'_>,
    ) -> ApiResult<Option<RequestToken>> {
        let services = &self.services;
        let token = access::find_token(&context.head.headers, services).await?;
        if let Some(RequestToken { record, .. }) = &token {
            context.token = Some(record.lookup);
            access::check_token(record, &*services.stores.tokens, context.received_at).await?;
            let owner = &record.owner;
            let lookup = record.lookup.as_str();
            tracing::record_all!(tracing::Span::current(), owner = %owner, token = lookup);
        }
        Ok(token)
    }

    /// Runs step 3: charges the budget of the token or of the guest, or rejects the request without charging it.
    pub(crate) async fn charge_caller(
        &self,
        context: &mut RequestContext<'_>,
        token: Option<&RequestToken>,
        cost: u32,
    ) -> ApiResult<()> {
        let key = token.map_or(context.guest_key, |token| RateLimitKey::Token(token.record.lookup));
        let charge = self.charge(context, key, cost).await?;
        if charge.allowed {
            return Ok(());
        }
        let wait = charge.resets_at.saturating_duration_since(charge.charged_at);
        Err(ApiError::RateLimited(wait))
    }

    /// Runs steps 4 to 6 for a guest or the owner of a token: scope check, access, online check. `scope` is the scope
    /// that a token needs.
    pub(crate) async fn admit(
        &self,
        context: &RequestContext<'_>,
        token: Option<RequestToken>,
        scope: Option<Scope>,
    ) -> ApiResult<GuestOrOwner> {
        if let Some(token) = token {
            return Ok(self.admit_owner(context, token, scope).await?.into());
        }
        let request = context.request_info(&self.services.environment.random);
        let guest = access::resolve_guest(&self.services, request).await?;
        access::require_online(guest.access())?;
        Ok(guest)
    }

    /// Runs steps 4 to 6 for the owner of a token.
    async fn admit_owner(
        &self,
        context: &RequestContext<'_>,
        token: RequestToken,
        scope: Option<Scope>,
    ) -> ApiResult<TokenOwner> {
        let request = context.request_info(&self.services.environment.random);
        let owner = access::resolve_owner(&self.services, token, scope, request).await?;
        access::require_online(owner.access())?;
        Ok(owner)
    }

    /// Runs steps 4 to 10.
    pub(crate) async fn call(
        self: &Arc<Self>,
        context: &mut RequestContext<'_>,
        target: Target<'_>,
        body: &mut RequestBody,
    ) -> ApiResult<ApiResponse> {
        let Target { spec, handler, path, page_form } = target;
        if spec.has_side_effects {
            context.events = RequestEvents::of_write();
        }
        let call = Call {
            services: &self.services,
            head: context.head,
            id: context.id,
            spec,
            path,
            page_form,
            body,
            body_limit: self.settings.body_limit,
        };
        // 7. Input decoding, 8. visibility check, 9. idempotency, 10. handler
        match handler {
            AuthenticatedHandler::GuestOrOwner(handler, token) => {
                let caller = self.admit(context, token, Some(spec.scope)).await?;
                Arc::clone(handler).call(call, caller).await
            }
            AuthenticatedHandler::Owner(handler, token) => {
                let owner = self.admit_owner(context, token, Some(spec.scope)).await?;
                Arc::clone(handler).call(call, owner).await
            }
        }
    }

    /// Renders the OpenAPI document.
    pub(super) fn render_document(&self) -> Value {
        let Services { extra_types, environment, .. } = &*self.services;
        openapi::render(&self.operations, extra_types, &self.settings, environment)
    }

    /// Serves the OpenAPI document. Ignores the token and charges nothing; the headers show the address budget.
    async fn serve_openapi(&self, context: &mut RequestContext<'_>) -> ApiResult<ApiResponse> {
        context.route = Some(endpoints::OPENAPI_PATH);
        context.is_conditional = true;
        self.charge(context, context.guest_key, 0).await?;
        reject_query(context.head)?;
        let document = self.document.get_or_init(|| self.render_document().to_string().into());
        Ok(ApiResponse { body: document.clone(), ..ApiResponse::default() })
    }

    /// Returns the client's address; `None` if the server does not know the peer.
    fn client_ip(&self, head: &Parts) -> Option<IpAddr> {
        if let Some(peer) = (self.peer_ip)(head) {
            let trusted_proxies = &self.settings.trusted_proxies;
            return Some(client_ip(peer, &head.headers, trusted_proxies));
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

    /// Charges one unit to the client's address budget after `error`: the request is malformed, or its routing or
    /// authentication failed.
    ///
    /// Returns `error` even if the budget is exhausted. A failure of the store replaces it.
    pub(crate) async fn charge_guest(
        &self,
        context: &mut RequestContext<'_>,
        error: ApiError,
    ) -> ApiError {
        let charge = self.charge(context, context.guest_key, 1).await;
        charge.err().unwrap_or(error)
    }

    /// Charges a budget and keeps the decision for the response headers. An exhausted budget is not an error.
    pub(crate) async fn charge(
        &self,
        context: &mut RequestContext<'_>,
        key: RateLimitKey,
        cost: u32,
    ) -> ApiResult<RateLimitDecision> {
        let (label, budget) = self.budget(key);
        let now = self.services.environment.clock.now();
        let charge = self
            .services
            .stores
            .rate_limits
            .charge(&key, cost, budget, now)
            .await
            .inspect_err(|_| recorder::record_store_error(STORE))
            .map_err(ApiError::before_command)?;
        recorder::record_charge(label, cost, charge.allowed);
        let units = if charge.allowed { cost } else { 0 };
        *context.charged_units.get_or_insert_default() += units;
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
fn timeout_error(body: &RequestBody) -> ApiError {
    if body.is_reading() {
        return InputError::expected("body", Expected::COMPLETE_BODY_IN_TIME).into();
    }
    ApiError::internal("the request timed out")
}
