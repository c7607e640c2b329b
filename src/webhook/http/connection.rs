//! A connection with one request after the other, and the pool of connections that wait for the next request.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::Error;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};
use url::Host;

use crate::webhook::{EndpointUrl, ReceiverResponse, TransportError};

pub(super) type HttpRequest = Request<Full<Bytes>>;

/// A TCP connection, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(super) type IoStream = Box<dyn Stream>;

/// The longest head of a response, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// The most header lines of a response.
const MAX_HEADERS: usize = 64;

/// A response as far as it has arrived.
#[derive(Debug)]
pub(super) struct ResponseCapture {
    status: StatusCode,
    body: Vec<u8>,
}

impl ResponseCapture {
    /// Keeps more of the body, as far as there is room.
    fn append(&mut self, data: &[u8]) {
        let room = ReceiverResponse::MAX_EXCERPT - self.body.len();
        self.body.extend(data.iter().take(room));
    }

    const fn is_full(&self) -> bool {
        self.body.len() >= ReceiverResponse::MAX_EXCERPT
    }
}

impl From<ResponseCapture> for ReceiverResponse {
    /// The text harms no terminal and no database: invalid UTF-8 and control characters are replaced.
    fn from(capture: ResponseCapture) -> Self {
        let is_harmful =
            |letter: char| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r');
        let text = String::from_utf8_lossy(&capture.body).replace(is_harmful, "\u{fffd}");
        Self {
            status: capture.status.as_u16(),
            excerpt: Self::excerpt_of(text),
        }
    }
}

/// A connection. It is closed when this is dropped.
pub(super) struct Connection {
    key: PoolKey,
    /// Whether a request was sent on it before.
    pub(super) is_reused: bool,
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    pub(super) async fn handshake(stream: IoStream, key: PoolKey) -> Result<Self, TransportError> {
        let mut builder = Builder::new();
        builder.max_buf_size(MAX_HEAD).max_headers(MAX_HEADERS);
        let handshake = builder.handshake(TokioIo::new(stream)).await;
        let (sender, connection) = handshake.map_err(|error| response_error(&error))?;
        tokio::spawn(async { drop(connection.await) });
        Ok(Self {
            key,
            is_reused: false,
            sender,
        })
    }

    /// Sends a request, and puts the response into `capture` as it arrives.
    pub(super) async fn send(
        &mut self,
        request: HttpRequest,
        capture: &mut Option<ResponseCapture>,
    ) -> Result<(), Error> {
        let (head, mut body) = self.sender.send_request(request).await?.into_parts();
        let capture = capture.insert(ResponseCapture {
            status: head.status,
            body: Vec::new(),
        });
        while !capture.is_full() {
            let Some(Ok(frame)) = body.frame().await else {
                break;
            };
            capture.append(frame.data_ref().map_or(&[], |data| data));
        }
        Ok(())
    }

    /// Whether another request can be sent on it, once the response was read.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }
}

/// Whether the receiver closed the connection instead of responding, as it does before it has read the request.
pub(super) fn was_closed(error: &Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let is_broken = cause(error).is_some_and(|cause| {
        let kind = cause.kind();
        matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset)
    });
    is_broken || error.is_canceled() || error.is_closed() || error.is_incomplete_message()
}

/// There was a connection, and no response on it.
pub(super) fn response_error(error: &Error) -> TransportError {
    let kind = cause(error).map(|cause| cause.kind().to_string());
    let why = kind.unwrap_or_else(|| error.to_string());
    TransportError(format!("no response: {why}"))
}

fn cause(error: &Error) -> Option<&io::Error> {
    error.source()?.downcast_ref()
}

/// What a connection must have in common with an attempt: the host, whose certificate was verified if there is TLS, and
/// an address that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PoolKey {
    host: Host,
    address: SocketAddr,
    is_secure: bool,
}

impl PoolKey {
    pub(super) fn new(target: &EndpointUrl, address: SocketAddr) -> Self {
        Self {
            host: target.host().clone(),
            address,
            is_secure: target.is_secure(),
        }
    }
}

/// Connections that wait for the next attempt, each for a limited time.
#[derive(Default)]
pub(super) struct ConnectionPool(Mutex<Idle>);

#[derive(Default)]
struct Idle {
    connections: HashMap<PoolKey, Vec<(Connection, Instant)>>,
    /// Whether a task closes the connections whose time is over.
    is_swept: bool,
}

impl ConnectionPool {
    /// The open connection that has waited least.
    pub(super) fn take(&self, key: &PoolKey) -> Option<Connection> {
        let mut idle = self.lock();
        let waiting = idle.connections.get_mut(key)?;
        while let Some((mut connection, until)) = waiting.pop() {
            if until > Instant::now() && connection.sender.is_ready() {
                connection.is_reused = true;
                return Some(connection);
            }
        }
        None
    }

    pub(super) fn put(self: &Arc<Self>, connection: Connection, keep: Duration) {
        let until = Instant::now() + keep;
        let mut idle = self.lock();
        let waiting = idle.connections.entry(connection.key.clone()).or_default();
        waiting.push((connection, until));
        if !idle.is_swept {
            idle.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self), until));
        }
    }

    /// Closes the connections whose time is over; returns when the next one's will be.
    fn close_expired(&self, now: Instant) -> Option<Instant> {
        let mut idle = self.lock();
        idle.connections.retain(|_, waiting| {
            waiting.retain(|(_, until)| *until > now);
            !waiting.is_empty()
        });
        let all = idle.connections.values().flatten();
        let next = all.map(|(_, until)| *until).min();
        idle.is_swept = next.is_some();
        next
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes expired connections until none waits any more, or the pool is dropped.
async fn sweep(pool: Weak<ConnectionPool>, mut next: Instant) {
    loop {
        sleep_until(next).await;
        let Some(pool) = pool.upgrade() else { return };
        match pool.close_expired(Instant::now()) {
            Some(later) => next = later,
            None => return,
        }
    }
}
