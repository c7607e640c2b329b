//! An asynchronous client of the API that reuses connections and distributes requests over the nodes.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::Response;
use crate::random::Random;

/// Longer than any response takes.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(45);

/// Shared addresses of the nodes.
#[derive(Clone, Debug, Default)]
pub struct Nodes(Arc<RwLock<Vec<SocketAddr>>>);

impl Nodes {
    pub fn new(addresses: &[SocketAddr]) -> Self {
        Self(Arc::new(RwLock::new(addresses.into())))
    }

    pub fn add(&self, address: SocketAddr) {
        self.0.write().unwrap().push(address);
    }

    pub fn replace(&self, number: usize, address: SocketAddr) {
        self.0.write().unwrap()[number] = address;
    }

    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.0.read().unwrap().clone()
    }
}

/// A request to the API, which can be sent repeatedly.
#[derive(Clone, Debug, Default)]
pub struct ApiRequest {
    pub method: &'static str,
    /// Path below the API's base path, with the query.
    pub path: String,
    /// Headers except `content-type`.
    pub headers: Vec<(&'static str, String)>,
    /// Body as JSON, or empty.
    pub body: String,
}

impl ApiRequest {
    pub fn new(method: &'static str, token: &str, path: &str, body: &Value) -> Self {
        let body = Some(body).filter(|body| !body.is_null());
        Self {
            method,
            path: path.into(),
            headers: vec![("authorization", format!("Bearer {token}"))],
            body: body.map(Value::to_string).unwrap_or_default(),
        }
    }

    pub fn get(token: &str, path: &str) -> Self {
        Self::new("GET", token, path, &Value::Null)
    }

    /// Adds an `Idempotency-Key`.
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

/// A client with one idle connection to each node.
#[derive(Debug)]
pub struct ApiClient {
    nodes: Nodes,
    random: Random,
    idle: HashMap<SocketAddr, Sender>,
}

impl ApiClient {
    pub fn new(nodes: &Nodes, random: Random) -> Self {
        Self { nodes: nodes.clone(), random, idle: HashMap::new() }
    }

    /// Sends a request to a random node that accepts connections. Returns `None` if the connection is closed before the
    /// response.
    pub async fn send(&mut self, request: &ApiRequest) -> Option<Response> {
        let mut nodes = self.nodes.addresses();
        let start = self.random.below(nodes.len());
        nodes.rotate_left(start);
        for node in nodes {
            if let Some(sender) = self.connection_to(node).await {
                return self.send_on(node, sender, request).await;
            }
        }
        None
    }

    /// Sends a request to a node.
    pub async fn send_to(&mut self, node: SocketAddr, request: &ApiRequest) -> Option<Response> {
        let sender = self.connection_to(node).await?;
        self.send_on(node, sender, request).await
    }

    async fn connection_to(&mut self, node: SocketAddr) -> Option<Sender> {
        if let Some(mut sender) = self.idle.remove(&node)
            && sender.ready().await.is_ok()
        {
            return Some(sender);
        }
        connect(node).await
    }

    async fn send_on(
        &mut self,
        node: SocketAddr,
        mut sender: Sender,
        request: &ApiRequest,
    ) -> Option<Response> {
        let exchange = async {
            let response = sender.send_request(request.to_http(node)).await.ok()?;
            let (head, body) = response.into_parts();
            let body = body.collect().await.ok()?.to_bytes();
            Some(Response {
                status: head.status.as_u16(),
                headers: head.headers,
                body: String::from_utf8(body.into()).unwrap(),
            })
        };
        let response = timeout(RESPONSE_TIMEOUT, exchange)
            .await
            .unwrap_or_else(|_| panic!("no response to {request:?}"))?;
        self.idle.insert(node, sender);
        Some(response)
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
