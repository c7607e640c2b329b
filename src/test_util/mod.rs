//! For tests (feature `test-util`): an in-process client, an interceptor for stores, and an executor with a manual clock.
//!
//! ```
//! use std::sync::Arc;
//! use forum_api::test_util::TestBoard;
//! # use forum_api::{async_trait, host::*, model::*};
//! # struct Closed;
//! # #[async_trait]
//! # impl Authorizer for Closed {
//! #     async fn guest(&self) -> Stored<Access> { Ok(Access::new(Forums::none())) }
//! #     async fn member(&self, _: &UserId) -> Stored<Option<Access>> { Ok(Some(Access::new(Forums::all()))) }
//! # }
//! # impl Board for Closed {}
//! # let (authority, board) = (Arc::new(Closed), Arc::new(Closed));
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let board = TestBoard::new(authority, board);
//! let answer = board.as_member("alice").get("/forums").await;
//! assert_eq!((answer.status, answer.code()), (501, Some("not_implemented")));
//! # });
//! ```

mod intercept;
mod manual_runtime;

use std::future::{Future, IntoFuture};
use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower_service::Service;

use crate::api::{ApiSettings, ForumApi};
use crate::environment::Environment;
use crate::host::{Authorizer, Board};
use crate::model::{Timestamp, UserId};
use crate::runtime::{BoxFuture, Clock, InlineRuntime, ManualClock, SeededRandom};
use crate::scope::Surface;
use crate::store::Stores;
use crate::token::{PlainToken, TokenRequest, issue_token};

pub use intercept::{Intervention, StoreInterceptor};
pub use manual_runtime::ManualRuntime;

/// A host's board behind the API, with stores in memory and a manual clock.
#[derive(Clone, Debug)]
pub struct TestApi {
    api: ForumApi,
    stores: Stores,
    settings: ApiSettings,
    surface: Surface,
    entropy: Arc<SeededRandom>,
    /// The clock that the API goes by. It begins at 2026-01-01T00:00:00Z.
    pub clock: Arc<ManualClock>,
}

impl TestApi {
    /// `board` with the default settings.
    pub fn new(authority: Arc<dyn Authorizer>, board: Arc<dyn Board>) -> Self {
        Self::with(
            authority,
            board,
            Stores::in_memory(),
            ApiSettings::default(),
            |environment| environment,
        )
    }

    /// `board` with these stores and settings, in the environment that `change` gives. Tokens have to be in memory.
    pub fn with(
        authority: Arc<dyn Authorizer>,
        board: Arc<dyn Board>,
        stores: Stores,
        settings: ApiSettings,
        change: impl FnOnce(Environment) -> Environment,
    ) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let entropy = Arc::new(SeededRandom::default());
        let own_clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let environment = change(Environment::new(InlineRuntime).clock(own_clock));
        let api = ForumApi::builder(authority, board, stores.clone(), &environment);
        Self {
            api: api.settings(settings.clone()).build(),
            surface: environment.surface,
            stores,
            settings,
            entropy,
            clock,
        }
    }

    /// The service itself, to mount it somewhere.
    pub fn api(&self) -> ForumApi {
        self.api.clone()
    }

    /// A caller without a token.
    pub fn as_guest(&self) -> TestClient<'_> {
        self.client(None)
    }

    /// The member with this id, with a token that carries every scope.
    ///
    /// # Panics
    /// When the id is none.
    pub fn as_member(&self, user: &str) -> TestClient<'_> {
        let scopes = self.surface.scopes();
        let scopes: Vec<_> = scopes.map(|scope| scope.as_str()).collect();
        self.with_scopes(user, &scopes)
    }

    /// The member with this id, with a token that carries these scopes.
    ///
    /// # Panics
    /// When the id is none, or the surface does not know a scope.
    pub fn with_scopes(&self, user: &str, scopes: &[&str]) -> TestClient<'_> {
        self.client(Some(
            self.token(user, scopes, "").expose_secret().to_owned(),
        ))
    }

    /// A token of the member with this id.
    ///
    /// # Panics
    /// When the id is none, the surface does not know a scope, or the expiry is refused.
    #[expect(
        clippy::expect_used,
        reason = "a test that asks for what cannot be is to fail"
    )]
    pub fn token(&self, user: &str, scopes: &[&str], expires_in_days: &str) -> PlainToken {
        let owner = UserId::parse(user).expect("a member's id");
        let scopes: Vec<_> = scopes.iter().map(ToString::to_string).collect();
        let wanted = TokenRequest {
            owner: &owner,
            label: "test",
            scopes: &scopes,
            expires_in_days,
        };
        let issued = issue_token(
            &*self.stores.tokens,
            &*self.entropy,
            self.surface,
            wanted,
            self.clock.now(),
        );
        now(issued).expect("a token").0
    }

    /// A caller with this `authorization` header.
    pub fn client(&self, token: Option<String>) -> TestClient<'_> {
        TestClient {
            board: self,
            authorization: token.map(|token| format!("Bearer {token}")),
        }
    }

    /// Sends a request as it is.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> TestResponse {
        let Ok(response) = self.api.clone().call(request).await;
        let (head, body) = response.into_parts();
        let Ok(body) = body.collect().await;
        TestResponse {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.to_bytes(),
        }
    }
}

/// The value of a future that is ready at once, as those of stores in memory are.
#[expect(clippy::panic, reason = "a store that waits is none for these tests")]
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("tokens of a test board are kept in memory"),
    }
}

/// One caller of a [`TestBoard`].
#[derive(Clone, Debug)]
pub struct TestClient<'a> {
    board: &'a TestApi,
    authorization: Option<String>,
}

impl<'a> TestClient<'a> {
    /// `GET` of a path below the mount.
    pub fn get(&self, path: &str) -> TestRequest<'a> {
        self.request(Method::GET, path)
    }

    /// `POST` of JSON.
    pub fn post(&self, path: &str, body: &Value) -> TestRequest<'a> {
        self.request(Method::POST, path).json(body)
    }

    /// `PATCH` with JSON.
    pub fn patch(&self, path: &str, body: &Value) -> TestRequest<'a> {
        self.request(Method::PATCH, path).json(body)
    }

    /// `DELETE` of a path below the mount.
    pub fn delete(&self, path: &str) -> TestRequest<'a> {
        self.request(Method::DELETE, path)
    }

    /// Any method on a path below the mount.
    pub fn request(&self, method: Method, path: &str) -> TestRequest<'a> {
        let mount = &self.board.settings.base_path;
        let request = Request::builder()
            .method(method)
            .uri(format!("{mount}{path}"));
        let ask = TestRequest {
            board: self.board,
            request,
            body: Bytes::new(),
        };
        match &self.authorization {
            Some(authorization) => ask.header(AUTHORIZATION.as_str(), authorization),
            None => ask,
        }
    }
}

/// A request that is sent when it is awaited.
#[derive(Debug)]
#[must_use = "it is sent when it is awaited"]
pub struct TestRequest<'a> {
    board: &'a TestApi,
    request: http::request::Builder,
    body: Bytes,
}

impl TestRequest<'_> {
    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Adds an extension, such as the peer's address.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, extension: T) -> Self {
        self.request = self.request.extension(extension);
        self
    }

    /// Sends these bytes, whatever they are.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }
}

impl<'a> IntoFuture for TestRequest<'a> {
    type Output = TestResponse;
    type IntoFuture = BoxFuture<'a, TestResponse>;

    #[expect(
        clippy::expect_used,
        reason = "a test that asks for what cannot be is to fail"
    )]
    fn into_future(self) -> BoxFuture<'a, TestResponse> {
        let request = self.request.body(Full::new(self.body)).expect("a request");
        Box::pin(self.board.send(request))
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it is.
    pub body: Bytes,
}

impl TestResponse {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header's text, if it is there.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The error code, if it is a refusal.
    pub fn code(&self) -> Option<&'static str> {
        let json = self.json();
        let code = json.pointer("/error/code")?.as_str()?;
        let mut codes = crate::api::ErrorCode::ALL.iter().map(|code| code.as_str());
        codes.find(|known| *known == code)
    }
}
