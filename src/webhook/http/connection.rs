//! HTTP/1.1 connections, and the pool of idle connections.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::Error;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, sleep_until};
use url::Host;

use super::limited_stream::{IoStream, LimitedStream, ReadLimit};
use crate::lock::lock;
use crate::model::DAY;
use crate::webhook::{EndpointUrl, ReceiverResponse, TransportError, header_lines};

pub(super) type HttpRequest = Request<Full<Bytes>>;

/// Longest head of a response in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// Largest number of header lines of a response.
const MAX_HEADERS: usize = 64;

/// The part of a response that has arrived.
#[derive(Debug)]
pub(super) struct ResponseCapture {
    status: StatusCode,
    headers: String,
    body: Vec<u8>,
}

impl ResponseCapture {
    fn new(status: StatusCode, headers: &HeaderMap) -> Self {
        Self {
            status,
            headers: header_lines(headers, ReceiverResponse::MAX_HEADERS_LEN),
            body: Vec::new(),
        }
    }

    /// Appends to the excerpt of the body, up to the limit of headers and body together.
    fn append(&mut self, data: &[u8]) {
        self.body.extend(data.iter().take(self.remaining()));
    }

    fn remaining(&self) -> usize {
        let used = self.headers.len() + self.body.len();
        ReceiverResponse::MAX_LEN.saturating_sub(used)
    }
}

impl From<ResponseCapture> for ReceiverResponse {
    fn from(capture: ResponseCapture) -> Self {
        Self {
            status: capture.status.as_u16(),
            headers: capture.headers,
            excerpt: String::from_utf8_lossy(&capture.body).into_owned(),
        }
    }
}

/// A connection, closed on drop.
pub(super) struct Connection {
    key: PoolKey,
    /// True if an earlier request was sent on the connection.
    pub(super) is_reused: bool,
    sender: SendRequest<Full<Bytes>>,
    read_limit: ReadLimit,
}

impl Connection {
    pub(super) async fn handshake(stream: IoStream, key: PoolKey) -> Result<Self, TransportError> {
        let mut builder = Builder::new();
        builder.max_buf_size(MAX_HEAD).max_headers(MAX_HEADERS);
        let (stream, read_limit) = LimitedStream::new(stream);
        let handshake = builder.handshake(TokioIo::new(stream)).await;
        let (sender, connection) = handshake.map_err(|error| response_error(&error))?;
        tokio::spawn(async { drop(connection.await) });
        Ok(Self { key, is_reused: false, sender, read_limit })
    }

    /// Sends a request, and stores the response in `capture` as it arrives.
    pub(super) async fn send(
        &mut self,
        request: HttpRequest,
        capture: &mut Option<ResponseCapture>,
    ) -> Result<(), Error> {
        self.read_limit.reset();
        let (head, mut body) = self.sender.send_request(request).await?.into_parts();
        let capture = capture.insert(ResponseCapture::new(head.status, &head.headers));
        while capture.remaining() > 0 {
            let Some(Ok(frame)) = body.frame().await else {
                break;
            };
            capture.append(frame.data_ref().map_or(&[], |data| data));
        }
        Ok(())
    }

    /// Waits until the response was read. Returns `true` if another request can be sent.
    pub(super) async fn is_ready(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }
}

/// Returns `true` if the receiver closed the connection before it responded.
pub(super) fn was_closed(error: &Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let is_broken = cause(error).is_some_and(|cause| {
        let kind = cause.kind();
        matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset)
    });
    is_broken || error.is_canceled() || error.is_closed() || error.is_incomplete_message()
}

pub(super) fn response_error(error: &Error) -> TransportError {
    let reason = match cause(error).map(io::Error::kind) {
        Some(io::ErrorKind::FileTooLarge) => "the response is too large".to_owned(),
        Some(kind) => kind.to_string(),
        None => error.to_string(),
    };
    TransportError::new(format!("no response: {reason}"))
}

fn cause(error: &Error) -> Option<&io::Error> {
    error.source()?.downcast_ref()
}

/// Key of reusable connections: scheme, host (whose certificate was verified) and address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PoolKey {
    host: Host,
    address: SocketAddr,
    is_secure: bool,
}

impl PoolKey {
    pub(super) fn new(target: &EndpointUrl, address: SocketAddr) -> Self {
        Self { host: target.host().clone(), address, is_secure: target.is_secure() }
    }
}

/// Idle connections, each with the time at which it is closed.
#[derive(Default)]
pub(super) struct ConnectionPool(Mutex<HashMap<PoolKey, Vec<(Connection, Instant)>>>);

impl ConnectionPool {
    /// Takes the open connection that was used last.
    pub(super) fn take(&self, key: &PoolKey) -> Option<Connection> {
        let mut idle = lock(&self.0);
        let connections = idle.get_mut(key)?;
        while let Some((mut connection, expires_at)) = connections.pop() {
            if expires_at > Instant::now() && connection.sender.is_ready() {
                connection.is_reused = true;
                return Some(connection);
            }
        }
        None
    }

    /// Keeps the connection for `idle_timeout`, and at most for a day.
    pub(super) fn put(self: &Arc<Self>, connection: Connection, idle_timeout: Duration) {
        let expires_at = Instant::now() + idle_timeout.min(DAY);
        let key = connection.key.clone();
        let mut idle = lock(&self.0);
        idle.entry(key).or_default().push((connection, expires_at));
        let pool = Arc::downgrade(self);
        tokio::spawn(async move {
            sleep_until(expires_at).await;
            if let Some(pool) = pool.upgrade() {
                pool.close_expired();
            }
        });
    }

    fn close_expired(&self) {
        let now = Instant::now();
        lock(&self.0).retain(|_, connections| {
            connections.retain(|(_, expires_at)| *expires_at > now);
            !connections.is_empty()
        });
    }
}
