//! A board behind the API, on a real socket or in process, with stores in memory and a clock that stands still.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use forum_api::ForumApi;
use forum_api::host::{Authorizer, Board};
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use forum_api::runtime::{Clock, ManualClock, TokioRuntime};
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::test_util::TestResponse;
use forum_api::{ApiSettings, Environment};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use super::{Ask, FullBoard, Outcome, log, lookup, outcome, soon, world};

/// A service with all that is behind it.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) api: ForumApi,
    pub(crate) board: Arc<FullBoard>,
    pub(crate) stores: Stores,
    pub(crate) clock: Arc<ManualClock>,
    address: Option<SocketAddr>,
    connections: Arc<watch::Sender<usize>>,
}

/// The default settings with budgets that no test spends by accident.
pub(crate) fn settings() -> ApiSettings {
    let mut settings = ApiSettings::default();
    settings.token_budget.units = 1_000_000;
    settings.guest_budget.units = 1_000_000;
    settings
}

impl Server {
    /// The full surface in process.
    pub(crate) fn new() -> Self {
        Self::with(settings())
    }

    pub(crate) fn on(surface: Surface) -> Self {
        Self::within(Environment::new(TokioRuntime).surface(surface), settings())
    }

    pub(crate) fn with(settings: ApiSettings) -> Self {
        Self::within(Environment::new(TokioRuntime), settings)
    }

    pub(crate) fn within(environment: Environment, settings: ApiSettings) -> Self {
        let board = FullBoard::new();
        let stores = Stores::in_memory();
        Self::over_in(environment, settings, stores, &board, board.clone())
    }

    /// `board` alone decides who sees what; `commands` answer.
    pub(crate) fn over(
        settings: ApiSettings,
        stores: Stores,
        board: &Arc<FullBoard>,
        commands: Arc<dyn Board>,
    ) -> Self {
        let environment = Environment::new(TokioRuntime);
        Self::over_in(environment, settings, stores, board, commands)
    }

    pub(crate) fn over_in(
        environment: Environment,
        settings: ApiSettings,
        stores: Stores,
        board: &Arc<FullBoard>,
        commands: Arc<dyn Board>,
    ) -> Self {
        log::keep();
        let clock = Arc::new(ManualClock::new(world::time()));
        let authority = board.clone() as Arc<dyn Authorizer>;
        let environment = environment.clock(clock.clone());
        let api = ForumApi::builder(authority, commands, stores.clone(), environment)
            .settings(settings)
            .build();
        Self {
            api,
            board: board.clone(),
            stores,
            clock,
            address: None,
            connections: Arc::default(),
        }
    }

    /// The same on a socket: [`send`](Self::send) goes there from now on.
    pub(crate) async fn listening(mut self) -> Self {
        let (api, connections) = (self.api.clone(), self.connections.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.address = Some(listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((socket, peer)) = listener.accept().await {
                connections.send_modify(|open| *open += 1);
                let (api, connections) = (api.clone(), connections.clone());
                tokio::spawn(async move {
                    converse(api, socket, peer).await;
                    connections.send_modify(|open| *open -= 1);
                });
            }
        });
        self
    }

    /// Ready when the server knows that all clients are gone.
    pub(crate) async fn until_all_hung_up(&self) {
        let mut connections = self.connections.subscribe();
        soon(connections.wait_for(|open| *open == 0)).await.unwrap();
    }

    /// What is left of a token's budget.
    pub(crate) async fn left(&self, token: &str, window: Budget) -> i64 {
        self.charge(token, 0, window).await.remaining.into()
    }

    /// Spends all that is left of a token's budget.
    pub(crate) async fn spend(&self, token: &str, window: Budget) {
        let left = self.charge(token, 0, window).await.remaining;
        assert!(self.charge(token, left, window).await.allowed);
    }

    async fn charge(&self, token: &str, cost: u32, window: Budget) -> RateLimitDecision {
        let key = RateLimitKey::Token(lookup(token));
        let charge = self
            .stores
            .rate_limits
            .charge(&key, cost, window, self.clock.now());
        charge.await.unwrap()
    }

    /// Sends a request: over a new connection, or in process.
    pub(crate) async fn send(&self, ask: &Ask) -> TestResponse {
        match self.address {
            Some(address) => Self::send_to(address, ask).await,
            None => self.call(ask.request()).await,
        }
    }

    /// Sends a request, and returns the status and the error code of the response.
    pub(crate) async fn outcome(&self, ask: Ask) -> Outcome {
        outcome(&self.send(&ask).await)
    }

    /// Sends a request as the owner of this token, and returns the status and the error code of the response.
    pub(crate) async fn outcome_for(&self, token: &str, ask: Ask) -> Outcome {
        self.outcome(ask.bearer(token)).await
    }

    /// Sends a request to a server over a new connection.
    pub(crate) async fn send_to(address: SocketAddr, ask: &Ask) -> TestResponse {
        let mut connection = connect(address).await;
        read(connection.send_request(ask.request()).await.unwrap()).await
    }

    /// Gives the service a request as it is, in process.
    pub(crate) async fn call<B>(&self, request: Request<B>) -> TestResponse
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<forum_api::host::BoxError>,
    {
        let Ok(response) = self.api.clone().oneshot(request).await;
        read(response).await
    }

    /// A connection of one's own, to be dropped at will.
    pub(crate) async fn connection(&self) -> Connection {
        connect(self.address.unwrap()).await
    }

    /// The same, as bytes.
    pub(crate) async fn socket(&self) -> TcpStream {
        TcpStream::connect(self.address.unwrap()).await.unwrap()
    }
}

/// One end of a connection; dropping it hangs up.
pub(crate) type Connection = hyper::client::conn::http1::SendRequest<Full<Bytes>>;

async fn connect(address: SocketAddr) -> Connection {
    let socket = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

/// Serves HTTP/1 with bare hyper, which tells the service the peer's address.
async fn converse(api: ForumApi, socket: TcpStream, peer: SocketAddr) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        api.clone().oneshot(request)
    });
    let server = hyper::server::conn::http1::Builder::new();
    drop(server.serve_connection(TokioIo::new(socket), service).await);
}

async fn read<B>(response: Response<B>) -> TestResponse
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
