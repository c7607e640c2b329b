//! HTTP/1.1 connections: their time limits, their end, and the check of the `Host` header.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use ::metrics::gauge;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use forum_api::MalformedRequest;
use http::header::{CONNECTION, EXPECT, HOST};
use http::{HeaderValue, Request, Version};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use super::client_stream::{ClientStream, CurrentExchange, Timeouts};
use super::metrics;
use super::request_body::RequestBody;
use super::slots::{MaxConnections, Slots};
use crate::shutdown::Shutdown;

/// Size in bytes from which an incomplete request head is refused. With hyper's default, a client without a token could
/// make the server buffer 400 KiB for each connection.
const MAX_HEAD_LEN: usize = 32 * 1024;

/// Time between a failed attempt to accept a connection and the next.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum number of connections that wait to be accepted: tokio's default.
const BACKLOG: usize = 1024;

/// Time for which a new connection stays open when the process stops, because its client may be sending the first
/// request.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

/// Limits of the connections.
#[derive(Clone, Debug)]
pub struct Limits {
    pub max: MaxConnections,
    pub timeouts: Timeouts,
}

/// Serves connections until the process is to stop, and then those with requests in flight until the drain timeout.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, shutdown: &Shutdown) {
    let mut connections = Connections {
        slots: Slots::new(limits.max),
        tasks: JoinSet::new(),
        router,
        timeouts: limits.timeouts,
        shutdown: shutdown.clone(),
    };
    tokio::select! {
        () = connections.accept(&listener) => {}
        () = shutdown.clone().wait_for_stop() => {}
    }
    connections.accept_waiting(listener);
    let mut tasks = connections.tasks;
    let finish = async { while tasks.join_next().await.is_some() {} };
    shutdown.drain("requests", finish).await;
    tasks.shutdown().await;
}

/// The open connections of a listener.
struct Connections {
    slots: Slots,
    tasks: JoinSet<()>,
    router: Router,
    timeouts: Timeouts,
    shutdown: Shutdown,
}

impl Connections {
    /// Accepts and serves connections.
    async fn accept(&mut self, listener: &TcpListener) {
        loop {
            let slot = self.slots.free().await;
            let (stream, peer) = accept(listener).await;
            self.begin(stream, peer, slot);
            while self.tasks.try_join_next().is_some() {}
        }
    }

    /// Accepts the connections that are in the backlog of a listener, and closes it. Otherwise their requests would be
    /// lost.
    fn accept_waiting(&mut self, listener: TcpListener) {
        let Ok(listener) = listener.into_std() else {
            return;
        };
        for _ in 0..BACKLOG {
            let Some(slot) = self.slots.try_free() else {
                return;
            };
            let Ok((stream, peer)) = listener.accept() else {
                return;
            };
            if stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream)
            {
                self.begin(stream, peer, Some(slot));
            }
        }
    }

    fn begin(&mut self, stream: TcpStream, peer: SocketAddr, slot: Option<OwnedSemaphorePermit>) {
        let Some(token) = self.slots.of_address(peer.ip()) else {
            return;
        };
        // A body in parts otherwise waits up to 40 ms for the acknowledgement of its first part. A closed socket fails
        // when it is read.
        let _ = stream.set_nodelay(true);
        let connection = Connection {
            peer,
            router: self.router.clone(),
            exchange: CurrentExchange::new(self.timeouts),
            shutdown: self.shutdown.clone(),
        };
        let open = OpenConnection::new();
        self.tasks.spawn(async move {
            let _open = open;
            connection.serve(stream).await;
            drop((slot, token));
        });
    }
}

/// A connection that the metrics count until this value is dropped.
struct OpenConnection;

impl OpenConnection {
    fn new() -> Self {
        gauge!(metrics::CONNECTIONS).increment(1);
        Self
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        gauge!(metrics::CONNECTIONS).decrement(1);
    }
}

/// Accepts a connection. After an error, such as an aborted connection or too many open files, tries again after
/// [`ACCEPT_RETRY_INTERVAL`]. Logs only the first error.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut is_logged = false;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                if !is_logged {
                    tracing::warn!(%error, "failed to accept connection");
                    is_logged = true;
                }
                sleep(ACCEPT_RETRY_INTERVAL).await;
            }
        }
    }
}

/// An open connection.
struct Connection {
    peer: SocketAddr,
    router: Router,
    exchange: CurrentExchange,
    shutdown: Shutdown,
}

impl Connection {
    /// Serves requests until the client or a time limit ends the connection. When the process stops, closes an idle
    /// connection, and completes a request in flight.
    async fn serve(&self, stream: TcpStream) {
        let stream = ClientStream::new(stream, self.exchange.clone());
        let service = service_fn(|request| self.respond(request));
        let mut connection = pin!(
            http1::Builder::new()
                // The stream limits the time of a head, and differently the time before it.
                .header_read_timeout(None)
                .max_buf_size(MAX_HEAD_LEN)
                .serve_connection(TokioIo::new(stream), service)
        );
        // Errors are ignored: a client that breaks the connection or violates HTTP gets no further response.
        tokio::select! {
            _ = connection.as_mut() => return,
            () = self.shutdown.clone().wait_for_stop() => {}
        }
        if !self.exchange.has_responded()
            && timeout(FIRST_REQUEST_TIMEOUT, connection.as_mut()).await.is_ok()
        {
            return;
        }
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }

    /// Responds to a request. Discards the rest of a short body. If the connection ends with the response, the response
    /// has `connection: close`.
    async fn respond(&self, request: Request<Incoming>) -> Result<Response, Infallible> {
        self.exchange.begin_request();
        // With `expect`, the client sends the body only if the server reads it. A refused body is therefore not read.
        let waits = request.headers().contains_key(EXPECT);
        let (head, body) = request.into_parts();
        let body = (!body.is_end_stream()).then(|| RequestBody::new(body));
        let lent = body.clone().map_or_else(Body::empty, Body::new);
        let request = set_client(self.peer, Request::from_parts(head, lent));
        let Ok(mut response) = self.router.clone().oneshot(request).await;
        let mut has_unread_body = false;
        if let Some(body) = body {
            if !waits {
                body.discard().await;
            }
            has_unread_body = !body.is_complete();
        }
        if has_unread_body || self.shutdown.is_requested() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        let len = response.body().size_hint().lower();
        self.exchange.begin_response(len, has_unread_body);
        Ok(response)
    }
}

/// Adds the address of the peer to a request, and a mark if its `Host` header is missing or repeated.
fn set_client(peer: SocketAddr, mut request: Request<Body>) -> Request<Body> {
    let hosts = request.headers().get_all(HOST).iter().count();
    let is_optional = request.version() < Version::HTTP_11;
    let extensions = request.extensions_mut();
    extensions.insert(peer);
    if hosts > 1 || hosts == 0 && !is_optional {
        extensions.insert(MalformedRequest { header: "host", expected: "exactly one" });
    }
    request
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::io::ErrorKind;
    use std::sync::{Arc, Mutex};

    use axum::body::Bytes;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    /// The tasks of the connections begin after the assertion: the runtime has one thread.
    #[tokio::test]
    async fn connections_that_wait_at_the_end_are_accepted_up_to_the_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        let max = MaxConnections { all: 1, per_address: 0, trusted_proxies: Vec::new() };
        let mut connections = Connections {
            slots: Slots::new(max),
            tasks: JoinSet::new(),
            router: Router::new(),
            timeouts: Timeouts { client: LIMIT, idle: LIMIT },
            shutdown: Shutdown::listen(Duration::ZERO, LIMIT).unwrap(),
        };
        connections.accept_waiting(listener);
        assert_eq!(connections.tasks.len(), 1);
    }

    /// A body that is larger than the buffers of a socket. It sends a signal when it is dropped.
    struct Large(Vec<u8>, #[expect(dead_code, reason = "dropped only")] oneshot::Sender<()>);

    impl AsRef<[u8]> for Large {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_its_response_is_disconnected() {
        let (dropped, drops) = oneshot::channel();
        let once = Arc::new(Mutex::new(Some(dropped)));
        let router = Router::new().fallback(move || {
            let large = Large(vec![0; 64 << 20], once.lock().unwrap().take().unwrap());
            ready(Body::from(Bytes::from_owner(large)))
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = Limits {
            max: MaxConnections { all: 10, per_address: 0, trusted_proxies: Vec::new() },
            timeouts: Timeouts { client: Duration::from_millis(100), idle: LIMIT },
        };
        let shutdown = Shutdown::listen(Duration::ZERO, LIMIT).unwrap();
        tokio::spawn(async move { serve(listener, router, limits, &shutdown).await });
        let mut client = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
        client.write_all(request).await.unwrap();
        timeout(LIMIT, drops).await.unwrap().unwrap_err();
        let error = client.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
}
