//! Test utilities (feature `test-util`): an in-process client, and stores in memory.
//!
//! ```
//! use std::sync::Arc;
//! use forum_api::test_util::TestApi;
//! # use forum_api::{async_trait, host::*, model::*};
//! # struct EmptyBoard;
//! # #[async_trait]
//! # impl Authorizer for EmptyBoard {
//! #     async fn guest_access(&self, _: &RequestInfo) -> BackendResult<Access> {
//! #         Ok(Access::new(VisibleForums::none()))
//! #     }
//! #     async fn member_access(&self, _: &UserId, _: &RequestInfo) -> BackendResult<Option<Access>> {
//! #         Ok(Some(Access::new(VisibleForums::all())))
//! #     }
//! # }
//! # #[async_trait]
//! # impl Board for EmptyBoard {
//! #     async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
//! #         Err(BoardError::NotImplemented)
//! #     }
//! # }
//! # let board = Arc::new(EmptyBoard);
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let api = TestApi::new(board);
//! let response = api.as_member("alice").get("/forums").await;
//! assert_eq!((response.status, response.code()), (501, Some(ErrorCode::NotImplemented)));
//! # });
//! ```

mod intercept;
mod manual_runtime;

use std::collections::{BTreeSet, HashMap};
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request};
use http_body_util::Full;
use serde_json::Value;

use crate::api::{ForumApi, ForumApiBuilder};
use crate::audit::{AuditAction, AuditActor, AuditEntry};
use crate::environment::Environment;
use crate::host::Host;
use crate::model::{AuditEntryId, EndpointId, ErrorCode, Timestamp, UserId};
use crate::runtime::{BoxFuture, Clock, InlineRuntime, ManualClock, SeededRandom};
use crate::scope::Scope;
use crate::store::{ClaimRequest, Stores};
use crate::token::{Expiry, PlainToken, TokenRequest, issue_token};
use crate::webhook::{AttemptRecord, EncryptedSecret, Endpoint, TopicSet};

pub use intercept::{Intervention, StoreInterceptor};
pub use manual_runtime::ManualRuntime;

/// Returns empty stores in one new SQLite database in memory. Their calls block the calling thread, and complete when
/// they are first polled.
///
/// # Panics
/// If SQLite cannot create the database.
#[cfg(feature = "sqlite")]
#[expect(clippy::expect_used, reason = "a missing database fails the test")]
pub fn stores_in_memory() -> (Stores, crate::store::WebhookStores) {
    use crate::store::sqlite::{Database, DatabasePath};

    let database = Database::open(&DatabasePath::Memory).expect("a database in memory");
    let interceptor = StoreInterceptor::blocking();
    let stores = interceptor.stores(&Stores::in_sqlite(&database));
    let webhooks = crate::store::WebhookStores::in_sqlite(&database);
    (stores, interceptor.webhooks(&webhooks))
}

/// Returns an entry of the audit log, for store calls in tests that do not examine the log. It always has the same id.
pub fn audit_entry() -> AuditEntry {
    AuditEntry {
        id: AuditEntryId::from_valid_text("aud_1".into()),
        occurred_at: Timestamp::from_millis(0),
        actor: AuditActor::SYSTEM,
        action: AuditAction::ENDPOINT_UPDATED,
        target: String::new(),
        details: String::new(),
    }
}

/// Returns a claim of up to `limit` deliveries for a minute, also to one endpoint.
#[doc(hidden)]
pub fn claim_request(limit: u32) -> ClaimRequest {
    ClaimRequest {
        limit,
        max_in_flight_per_endpoint: limit,
        in_flight_by_endpoint: HashMap::new(),
        max_impaired: limit,
        lease_duration: Duration::from_secs(60),
    }
}

/// Returns an enabled endpoint for all topics, some of whose values a test replaces.
#[doc(hidden)]
pub fn endpoint() -> Endpoint {
    Endpoint {
        id: EndpointId::from_valid_text("whe_1".into()),
        url: "https://receiver.example".into(),
        topics: TopicSet { all: true, named: BTreeSet::new() },
        owner: UserId::from(1),
        enabled: true,
        created_at: Timestamp::default(),
        secret: EncryptedSecret::new(vec![7; 16]),
        pending_secret: None,
        failing_since: None,
        is_slow: false,
        auto_disabled: false,
        version: 1,
    }
}

/// Returns the record of an attempt that was answered with the status 500.
#[doc(hidden)]
pub fn attempt_record(attempt: u32) -> AttemptRecord {
    AttemptRecord {
        attempt,
        started_at: Timestamp::from_millis(1_767_225_600_000 + i64::from(attempt)),
        status: Some(500),
        error: None,
        duration_ms: 12,
        response_excerpt: Some("no".into()),
        request_headers: Some("x-forum-event: ping\n".into()),
        response_headers: Some("x: \u{fffd}\n".into()),
    }
}

/// The API over a board, with stores in memory and a manual clock.
#[derive(Clone, Debug)]
#[doc(alias = "test client")]
pub struct TestApi {
    api: ForumApi,
    stores: Stores,
    random: Arc<SeededRandom>,
    /// A clock that starts at 2026-01-01T00:00:00Z, and changes only when a test sets or advances it.
    /// [`issue_token`](Self::issue_token) uses it. The API uses it unless [`with`](Self::with) replaces it.
    pub clock: Arc<ManualClock>,
}

impl TestApi {
    /// Creates an API with the default settings. `host` is an [`Arc`] of the board, or a [`Host`].
    pub fn new(host: impl Into<Host>) -> Self {
        use std::convert::identity;
        Self::with(host, Stores::in_memory(), identity, identity)
    }

    /// Creates an API with these stores. `environment` changes the environment, which has a manual clock, and `api` sets
    /// settings and operations. The token store must be in memory.
    ///
    /// # Panics
    /// If a setting or an operation is invalid.
    #[expect(clippy::expect_used, reason = "invalid settings fail the test")]
    pub fn with(
        host: impl Into<Host>,
        stores: Stores,
        environment: impl FnOnce(Environment) -> Environment,
        api: impl FnOnce(ForumApiBuilder) -> ForumApiBuilder,
    ) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let own_clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let environment = environment(Environment::new(InlineRuntime).clock(own_clock));
        let builder = ForumApi::builder(host, stores.clone()).environment(&environment);
        Self {
            api: api(builder).build().expect("valid settings"),
            stores,
            random: Arc::default(),
            clock,
        }
    }

    /// Returns the service.
    pub fn api(&self) -> ForumApi {
        self.api.clone()
    }

    /// Returns a client without a token.
    pub fn as_guest(&self) -> TestClient<'_> {
        self.client(None)
    }

    /// Returns a client with a token of the member with the id `user`, for all scopes.
    ///
    /// # Panics
    /// If the id is invalid.
    pub fn as_member(&self, user: &str) -> TestClient<'_> {
        let scopes: Vec<_> = self.api.scopes().iter().collect();
        self.as_member_with_scopes(user, &scopes)
    }

    /// Returns a client with a token of the member with the id `user`, for these scopes.
    ///
    /// # Panics
    /// If the id is invalid, `scopes` is empty, or the API does not have one of them.
    pub fn as_member_with_scopes(&self, user: &str, scopes: &[Scope]) -> TestClient<'_> {
        let token = self.issue_token(user, scopes, Expiry::NEVER);
        self.client(Some(token.expose_secret().to_owned()))
    }

    /// Issues a token of the member with the id `user`.
    ///
    /// # Panics
    /// If the id is invalid, `scopes` is empty, or the API does not have one of them.
    #[expect(clippy::expect_used, reason = "invalid arguments fail the test")]
    pub fn issue_token(&self, user: &str, scopes: &[Scope], expiry: Expiry) -> PlainToken {
        let owner = UserId::parse(user).expect("a member's id");
        let request = TokenRequest::new(&owner, scopes).label("test").expiry(expiry);
        let tokens = &*self.stores.tokens;
        let random = &*self.random;
        let now = self.clock.now();
        let issued = issue_token(tokens, random, self.api.scopes().clone(), request, now);
        block_on_ready(issued).expect("a valid token request").0
    }

    /// Returns a client that sends this text as its bearer token, even if it is not a valid token; `None` sends no
    /// token.
    pub fn client(&self, token: Option<String>) -> TestClient<'_> {
        TestClient { api: self, authorization: token.map(|token| format!("Bearer {token}")) }
    }

    /// Sends a request unchanged.
    pub async fn send(&self, request: Request<impl Into<Bytes>>) -> TestResponse {
        let request = request.map(|body| Full::new(body.into()));
        let (head, body) = self.api.respond(request).await.into_parts();
        TestResponse {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.into_bytes(),
        }
    }
}

/// Returns the value of a future that is ready when it is first polled, such as a future of a store in memory.
#[expect(clippy::panic, reason = "the token store is documented to be in memory")]
fn block_on_ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the token store is not in memory"),
    }
}

/// A client of a [`TestApi`]. Paths are relative to the base path.
#[derive(Clone, Debug)]
pub struct TestClient<'a> {
    api: &'a TestApi,
    authorization: Option<String>,
}

impl<'a> TestClient<'a> {
    /// Creates a `GET` request.
    pub fn get(&self, path: &str) -> TestRequest<'a> {
        self.request(Method::GET, path)
    }

    /// Creates a `POST` request with a JSON body.
    pub fn post(&self, path: &str, body: &Value) -> TestRequest<'a> {
        self.request(Method::POST, path).json(body)
    }

    /// Creates a `PATCH` request with a JSON body.
    pub fn patch(&self, path: &str, body: &Value) -> TestRequest<'a> {
        self.request(Method::PATCH, path).json(body)
    }

    /// Creates a `DELETE` request.
    pub fn delete(&self, path: &str) -> TestRequest<'a> {
        self.request(Method::DELETE, path)
    }

    /// Creates a request without a body.
    pub fn request(&self, method: Method, path: &str) -> TestRequest<'a> {
        let uri = format!("{}{path}", self.api.api.0.settings.base_path);
        let request = TestRequest {
            api: self.api,
            request: Request::builder().method(method).uri(uri),
            body: Bytes::new(),
        };
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION.as_str(), authorization),
            None => request,
        }
    }
}

/// A request, sent when it is awaited.
#[derive(Debug)]
#[must_use = "a request is sent when it is awaited"]
pub struct TestRequest<'a> {
    api: &'a TestApi,
    request: http::request::Builder,
    body: Bytes,
}

impl TestRequest<'_> {
    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Adds an extension, such as the peer's IP address.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, extension: T) -> Self {
        self.request = self.request.extension(extension);
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }
}

impl<'a> IntoFuture for TestRequest<'a> {
    type Output = TestResponse;
    type IntoFuture = BoxFuture<'a, TestResponse>;

    #[expect(clippy::expect_used, reason = "an invalid request fails the test")]
    fn into_future(self) -> BoxFuture<'a, TestResponse> {
        let request = self.request.body(self.body).expect("a valid request");
        Box::pin(self.api.send(request))
    }
}

/// A response with its complete body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl TestResponse {
    /// Returns the body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns a header, or `None` if it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the error code; `None` for a response without an error.
    pub fn code(&self) -> Option<ErrorCode> {
        let json = self.json();
        json.pointer("/error/code")?.as_str()?.parse().ok()
    }
}
