//! A client that keeps its connections, and asks any of the nodes, as a load balancer does.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::random::Random;

/// Longer than a server takes for anything.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(45);

/// Where the nodes are.
#[derive(Clone, Debug, Default)]
pub struct Nodes(Arc<RwLock<Vec<SocketAddr>>>);

impl Nodes {
    /// These.
    pub fn new(addresses: &[SocketAddr]) -> Self {
        Self(Arc::new(RwLock::new(addresses.into())))
    }

    /// One more.
    pub fn add(&self, address: SocketAddr) {
        self.0.write().unwrap().push(address);
    }

    /// Another in the place of one.
    pub fn replace(&self, number: usize, address: SocketAddr) {
        self.0.write().unwrap()[number] = address;
    }

    /// All of them.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.0.read().unwrap().clone()
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl ApiResponse {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The error code, if it is a refusal.
    pub fn error_code(&self) -> String {
        self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .into()
    }

    /// A header's number, if it is there.
    pub fn header_number(&self, name: &str) -> Option<u64> {
        self.headers.get(name)?.to_str().ok()?.parse().ok()
    }

    /// Whether it is the first answer to a key, given again.
    pub fn is_replayed(&self) -> bool {
        self.headers.contains_key("idempotency-replayed")
    }
}

/// A request, as often as it is sent.
#[derive(Clone, Debug, Default)]
pub struct ApiRequest {
    /// The method.
    pub method: &'static str,
    /// The path below the API's, with its query.
    pub path: String,
    /// The headers, `content-type` aside.
    pub headers: Vec<(&'static str, String)>,
    /// The body, in JSON.
    pub body: String,
}

impl ApiRequest {
    /// A request of a token's owner.
    pub fn new(method: &'static str, token: &str, path: &str, body: &Value) -> Self {
        let body = Some(body).filter(|body| !body.is_null());
        Self {
            method,
            path: path.into(),
            headers: vec![("authorization", format!("Bearer {token}"))],
            body: body.map(Value::to_string).unwrap_or_default(),
        }
    }

    /// A read of a token's owner.
    pub fn get(token: &str, path: &str) -> Self {
        Self::new("GET", token, path, &Value::Null)
    }

    /// The same with this `Idempotency-Key`.
    pub fn with_key(mut self, key: &str) -> Self {
        self.headers.push(("idempotency-key", key.into()));
        self
    }

    fn to_http(&self, node: SocketAddr) -> Request<Full<Bytes>> {
        let mut request = Request::builder()
            .method(self.method)
            .uri(format!("/api/v1{}", self.path))
            .header("host", node.to_string());
        if !self.body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let body = Full::new(Bytes::from(self.body.clone()));
        request.body(body).unwrap()
    }
}

type Sender = SendRequest<Full<Bytes>>;

/// Connections of one client.
#[derive(Debug)]
pub struct ApiClient {
    nodes: Nodes,
    random: Random,
    open: HashMap<SocketAddr, Sender>,
}

impl ApiClient {
    /// None yet.
    pub fn new(nodes: &Nodes, random: Random) -> Self {
        Self {
            nodes: nodes.clone(),
            random,
            open: HashMap::new(),
        }
    }

    /// Asks any node that takes a connection; `None` when that drops before there is an answer.
    pub async fn send(&mut self, ask: &ApiRequest) -> Option<ApiResponse> {
        let mut nodes = self.nodes.addresses();
        let start = self.random.below(nodes.len());
        nodes.rotate_left(start);
        for node in nodes {
            if let Some(sender) = self.connection_to(node).await {
                return self.send_on(node, sender, ask).await;
            }
        }
        None
    }

    /// Asks one node.
    pub async fn send_to(&mut self, node: SocketAddr, ask: &ApiRequest) -> Option<ApiResponse> {
        let sender = self.connection_to(node).await?;
        self.send_on(node, sender, ask).await
    }

    async fn connection_to(&mut self, node: SocketAddr) -> Option<Sender> {
        if let Some(mut sender) = self.open.remove(&node)
            && sender.ready().await.is_ok()
        {
            return Some(sender);
        }
        connect(node).await
    }

    async fn send_on(&mut self, node: SocketAddr, mut sender: Sender, ask: &ApiRequest) -> Option<ApiResponse> {
        let answering = async {
            let response = sender.send_request(ask.to_http(node)).await.ok()?;
            let (head, body) = response.into_parts();
            let body = body.collect().await.ok()?.to_bytes();
            Some(ApiResponse {
                status: head.status.as_u16(),
                headers: head.headers,
                body,
            })
        };
        let reply = timeout(RESPONSE_TIMEOUT, answering).await;
        let reply = reply.unwrap_or_else(|_| panic!("no answer to {ask:?}"))?;
        self.open.insert(node, sender);
        Some(reply)
    }
}

async fn connect(node: SocketAddr) -> Option<Sender> {
    let stream = TcpStream::connect(node).await.ok()?;
    stream.set_nodelay(true).ok()?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    sender.ready().await.ok()?;
    Some(sender)
}
