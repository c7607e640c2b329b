//! The API over a test board, on a socket or in process, with stores in memory and a manual clock.

use std::net::SocketAddr;

use bytes::Bytes;
use forum_api::ForumApiBuilder;
use forum_api::operation::Operation;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use forum_api::runtime::ManualClock;
use forum_api::test_util::StoreInterceptor;
use http::Response;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use super::*;

/// A service with its board, stores and clock.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) api: ForumApi,
    pub(crate) board: Arc<FullBoard>,
    pub(crate) stores: Stores,
    pub(crate) clock: Arc<ManualClock>,
    address: Option<SocketAddr>,
    connections: Arc<watch::Sender<usize>>,
}

/// The default settings with budgets that no test exhausts by accident.
pub(crate) fn settings() -> ApiSettings {
    let mut settings = ApiSettings::default();
    settings.token_budget.units = 1_000_000;
    settings.guest_budget.units = 1_000_000;
    settings
}

/// The default settings with a short request timeout.
pub(crate) fn short_timeout() -> ApiSettings {
    let mut settings = settings();
    settings.request_timeout = Duration::from_millis(20);
    settings
}

impl Server {
    /// Creates a server of the full surface, in process.
    pub(crate) fn new() -> Self {
        Self::with(settings())
    }

    /// Creates a server like [`new`](Self::new), and a token of alice with every scope.
    pub(crate) async fn with_alice() -> (Self, String) {
        let server = Self::new();
        let alice = server.token("alice").await;
        (server, alice)
    }

    pub(crate) fn on(surface: Surface) -> Self {
        Self::within(Environment::default().surface(surface), settings())
    }

    pub(crate) fn with(settings: ApiSettings) -> Self {
        Self::within(Environment::default(), settings)
    }

    pub(crate) fn within(environment: Environment, settings: ApiSettings) -> Self {
        let board = FullBoard::new();
        let stores = Stores::in_memory();
        Self::over(environment, settings, stores, &board, board.clone())
    }

    /// Creates a server whose board loads tokens with their owners, and returns the interceptor of its stores.
    pub(crate) fn with_token_loading() -> (Self, StoreInterceptor) {
        let board = FullBoard::new();
        let interceptor = StoreInterceptor::default();
        let environment = Environment::default();
        let stores = interceptor.stores(&Stores::in_memory());
        board.load_tokens(stores.tokens.clone());
        let server = Self::over(environment, settings(), stores, &board, board.clone());
        (server, interceptor)
    }

    /// Creates two servers over the same board and stores, and lets the calls of `store` fail in the second one.
    pub(crate) fn with_failing_store(
        settings: ApiSettings,
        store: &'static str,
        failure: fn() -> Intervention,
    ) -> (Self, Self) {
        let board = FullBoard::new();
        let stores = Stores::in_memory();
        let interceptor = StoreInterceptor::default();
        interceptor.on_call(move |method, _| {
            if method.starts_with(store) { failure() } else { Intervention::Proceed }
        });
        let failing = interceptor.stores(&stores);
        let over = |stores| {
            let environment = Environment::default();
            Self::over(environment, settings.clone(), stores, &board, board.clone())
        };
        (over(stores), over(failing))
    }

    /// Creates a server whose access rules are those of `board`, and whose methods are those of `commands`.
    pub(crate) fn over(
        environment: Environment,
        settings: ApiSettings,
        stores: Stores,
        board: &Arc<FullBoard>,
        commands: Arc<dyn Board>,
    ) -> Self {
        Self::with_operations(environment, settings, stores, board, commands, Vec::new())
    }

    /// Creates a server that also has `operations`.
    pub(crate) fn with_operations(
        environment: Environment,
        settings: ApiSettings,
        stores: Stores,
        board: &Arc<FullBoard>,
        commands: Arc<dyn Board>,
        operations: Vec<Operation>,
    ) -> Self {
        log::capture();
        let clock = Arc::new(ManualClock::new(fixtures::time()));
        let environment = environment.clock(clock.clone());
        let host = Host::new(board.clone(), commands);
        let builder =
            ForumApi::builder(host, stores.clone()).environment(&environment).settings(settings);
        let api = operations.into_iter().fold(builder, ForumApiBuilder::operation);
        Self {
            api: api.build().unwrap(),
            board: board.clone(),
            stores,
            clock,
            address: None,
            connections: Arc::default(),
        }
    }

    /// Starts to listen on a socket, which [`send`](Self::send) then uses.
    pub(crate) async fn listening(mut self) -> Self {
        let api = self.api.clone();
        let connections = self.connections.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.address = Some(listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((socket, peer)) = listener.accept().await {
                connections.send_modify(|open| *open += 1);
                let api = api.clone();
                let connections = connections.clone();
                tokio::spawn(async move {
                    serve(api, socket, peer).await;
                    connections.send_modify(|open| *open -= 1);
                });
            }
        });
        self
    }

    /// Waits until the server has closed all connections.
    pub(crate) async fn until_disconnected(&self) {
        let mut connections = self.connections.subscribe();
        let closed = connections.wait_for(|open| *open == 0);
        within_ten_seconds(closed).await.unwrap();
    }

    /// Returns the remaining units of a token.
    pub(crate) async fn remaining(&self, token: &str, budget: Budget) -> i64 {
        self.charge(token, 0, budget).await.remaining.into()
    }

    /// Charges all remaining units of a token.
    pub(crate) async fn exhaust(&self, token: &str, budget: Budget) {
        let remaining = self.charge(token, 0, budget).await.remaining;
        assert!(self.charge(token, remaining, budget).await.allowed);
    }

    async fn charge(&self, token: &str, cost: u32, budget: Budget) -> RateLimitDecision {
        let key = RateLimitKey::Token(lookup(token));
        self.stores.rate_limits.charge(&key, cost, budget, self.clock.now()).await.unwrap()
    }

    /// Sends a request over a new connection or in process.
    pub(crate) async fn send(&self, request: &Request) -> TestResponse {
        match self.address {
            Some(address) => Self::send_to(address, request).await,
            None => self.call(request.to_http()).await,
        }
    }

    /// Sends a request, and returns the status and the error code of the response.
    pub(crate) async fn outcome(&self, request: Request) -> Outcome {
        outcome(&self.send(&request).await)
    }

    /// Sends a request as the owner of this token, and returns the status and the error code of the response.
    pub(crate) async fn outcome_for(&self, token: &str, request: Request) -> Outcome {
        self.outcome(request.bearer(token)).await
    }

    /// Sends a request, checks the status and the error code of the response, and returns it.
    pub(crate) async fn expect(&self, request: Request, expected: Outcome) -> TestResponse {
        let response = self.send(&request).await;
        assert_eq!(outcome(&response), expected, "{request:?} {response:?}");
        response
    }

    /// Sends a request to a server over a new connection.
    pub(crate) async fn send_to(address: SocketAddr, request: &Request) -> TestResponse {
        let mut connection = connect(address).await;
        read(connection.send_request(request.to_http()).await.unwrap()).await
    }

    /// Calls the service in process.
    pub(crate) async fn call<B>(&self, request: http::Request<B>) -> TestResponse
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<forum_api::host::BoxError>,
    {
        read(self.api.respond(request).await).await
    }

    /// Opens a connection. Dropping it disconnects the client.
    pub(crate) async fn connection(&self) -> Connection {
        connect(self.address.unwrap()).await
    }
}

pub(crate) type Connection = hyper::client::conn::http1::SendRequest<Full<Bytes>>;

async fn connect(address: SocketAddr) -> Connection {
    let socket = TcpStream::connect(address).await.unwrap();
    let (sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// Serves HTTP/1 with hyper, and adds the peer's address to the requests.
async fn serve(api: ForumApi, socket: TcpStream, peer: SocketAddr) {
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().insert(peer);
        api.clone().oneshot(request)
    });
    let server = hyper::server::conn::http1::Builder::new();
    drop(server.serve_connection(TokioIo::new(socket), service).await);
}

pub(crate) async fn read<B>(response: Response<B>) -> TestResponse
where
    B: http_body::Body,
    B::Error: std::fmt::Debug,
{
    let (head, body) = response.into_parts();
    TestResponse {
        status: head.status.as_u16(),
        headers: head.headers,
        body: body.collect().await.unwrap().to_bytes(),
    }
}
