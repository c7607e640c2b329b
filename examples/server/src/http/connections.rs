//! HTTP/1.1 connections: their number, their time limits, and the check of the `Host` header.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use forum_api::MalformedRequest;
use http::header::HOST;
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use super::client_stream::ClientStream;
use crate::shutdown::Shutdown;

/// Number of open files that are reserved for databases, webhooks and the log.
const OTHER_FILES: usize = 512;

/// Size in bytes from which an incomplete request head is refused. With hyper's default, a client without a token could
/// make the server buffer 400 KiB for each connection.
const MAX_HEAD_LEN: usize = 32 * 1024;

/// Time between a failed attempt to accept a connection and the next.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Time between two warnings about the number of connections.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Limits of the connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of open connections. Further ones wait in the listener's backlog.
    pub connections: usize,
    /// Time in which a client sends a request head; also the time for which an idle connection stays open.
    pub head: Duration,
    /// Time after which a client that reads nothing of its response, or reads it too slowly, is disconnected.
    pub write: Duration,
}

impl Limits {
    /// Creates limits with the same timeout for reading a head and writing a response.
    pub const fn new(connections: usize, time: Duration) -> Self {
        Self {
            connections,
            head: time,
            write: time,
        }
    }
}

/// Connections that finish their requests after the server has stopped accepting.
#[derive(Debug)]
struct Draining {
    graceful: GracefulShutdown,
    tasks: JoinSet<()>,
}

impl Draining {
    /// Waits until every request in flight is answered.
    async fn finish(&mut self) {
        std::mem::take(&mut self.graceful).shutdown().await;
    }

    /// Closes the connections that are left.
    async fn close(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Serves connections until the process is to stop, and then those with requests in flight until the drain timeout.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, shutdown: &Shutdown) {
    let stopped = shutdown.clone().requested();
    let mut draining = accept(listener, router, limits, stopped).await;
    shutdown.drain("requests", draining.finish()).await;
    draining.close().await;
}

/// Accepts and serves connections until `stopped` is ready.
async fn accept(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stopped: impl Future<Output = ()>,
) -> Draining {
    let mut draining = Draining {
        graceful: GracefulShutdown::new(),
        tasks: JoinSet::new(),
    };
    let Draining { graceful, tasks } = &mut draining;
    let accept = async {
        let mut slots = Slots::new(limits.connections);
        loop {
            let slot = slots.free().await;
            let (stream, peer) = accepted(&listener).await;
            let service = router
                .clone()
                .map_request(move |request| arrived(peer, request));
            let stream = ClientStream::new(stream, limits.write);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.head)
                .max_buf_size(MAX_HEAD_LEN)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
            let watched = graceful.watch(connection);
            tasks.spawn(async move {
                // A client that breaks the connection or violates HTTP gets no further response.
                let _ = watched.await;
                drop(slot);
            });
            while tasks.try_join_next().is_some() {}
        }
    };
    tokio::select! {
        () = accept => {}
        () = stopped => {}
    }
    draining
}

/// Permits of open connections.
struct Slots {
    limit: usize,
    free: Arc<Semaphore>,
    warned: Option<Instant>,
}

impl Slots {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            free: Arc::new(Semaphore::new(limit)),
            warned: None,
        }
    }

    /// Waits for a free permit.
    async fn free(&mut self) -> Option<OwnedSemaphorePermit> {
        let is_old = |warned: Instant| warned.elapsed() >= WARNING_INTERVAL;
        if self.free.available_permits() == 0 && self.warned.is_none_or(is_old) {
            self.warned = Some(Instant::now());
            tracing::warn!(
                limit = self.limit,
                "connection limit reached: new connections wait"
            );
        }
        // The semaphore is never closed.
        Arc::clone(&self.free).acquire_owned().await.ok()
    }
}

/// Accepts a connection. After an error, such as an aborted connection or too many open files, tries again after
/// [`ACCEPT_RETRY_INTERVAL`].
async fn accepted(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!(%error, "failed to accept connection");
                sleep(ACCEPT_RETRY_INTERVAL).await;
            }
        }
    }
}

/// Adds the address of the peer to a request, and a mark if its `Host` header is missing or repeated.
fn arrived(peer: SocketAddr, request: Request<Incoming>) -> Request<Body> {
    let mut request = request.map(Body::new);
    let hosts = request.headers().get_all(HOST).iter().count();
    let is_optional = request.version() < Version::HTTP_11;
    let extensions = request.extensions_mut();
    extensions.insert(peer);
    if hosts > 1 || hosts == 0 && !is_optional {
        extensions.insert(MalformedRequest {
            header: "host",
            expected: "exactly one",
        });
    }
    request
}

/// Raises the soft limit of open files for `connections` if necessary and possible. Returns the number of connections
/// that the limit allows, at most `connections`. Logs a warning if it is smaller.
pub fn raise_file_limit(connections: usize) -> usize {
    let needed = u64::try_from(connections.saturating_add(OTHER_FILES)).unwrap_or(u64::MAX);
    let before = getrlimit(Resource::Nofile);
    if before.current.is_some_and(|current| current < needed) {
        let current = before.maximum.map_or(needed, |maximum| maximum.min(needed));
        let raised = Rlimit {
            current: Some(current),
            ..before
        };
        // The limit is read again below, so that a failure lowers the number of connections.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    let files = getrlimit(Resource::Nofile).current;
    let allowed = connections_within(connections, files);
    if allowed < connections {
        tracing::warn!(
            files,
            allowed,
            "--max-connections lowered: the limit of open files is too low"
        );
    }
    allowed
}

/// Returns the number of connections that a limit of open files allows; `None` is no limit.
fn connections_within(connections: usize, files: Option<u64>) -> usize {
    let Some(files) = files.and_then(|files| usize::try_from(files).ok()) else {
        return connections;
    };
    let left = files.saturating_sub(OTHER_FILES).max(files / 2);
    connections.min(left.max(1))
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::io::ErrorKind;
    use std::sync::Mutex;

    use axum::body::Bytes;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    /// A body that is larger than the buffers of a socket. It sends a signal when it is dropped.
    struct Large(
        Vec<u8>,
        #[expect(dead_code, reason = "dropped only")] oneshot::Sender<()>,
    );

    impl AsRef<[u8]> for Large {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    /// Returns a client that has sent a request and does not read the response, and a signal for the drop of the
    /// response body. The server accepts connections until `stopped` is ready.
    async fn unread(
        write: Duration,
        stopped: impl Future<Output = ()>,
    ) -> (TcpStream, oneshot::Receiver<()>, Draining) {
        let (dropped, drops) = oneshot::channel();
        let (arrived, arrives) = oneshot::channel::<()>();
        let once = Arc::new(Mutex::new(Some((dropped, arrived))));
        let router = Router::new().fallback(move || {
            let (dropped, _arrived) = once.lock().unwrap().take().unwrap();
            let large = Large(vec![0; 64 << 20], dropped);
            ready(Body::from(Bytes::from_owner(large)))
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        client
            .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        let limits = Limits {
            write,
            ..Limits::new(10, LIMIT)
        };
        let stopped = async {
            let _ = arrives.await;
            stopped.await;
        };
        let draining = accept(listener, router, limits, stopped).await;
        (client, drops, draining)
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_its_response_is_disconnected() {
        let (mut client, drops, _draining) = unread(Duration::from_millis(100), ready(())).await;
        timeout(LIMIT, drops).await.unwrap().unwrap_err();
        let rest = client.read_to_end(&mut Vec::new()).await;
        assert_eq!(rest.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }

    #[test]
    fn the_connection_limit_reserves_files_for_other_uses() {
        for (connections, files, expected) in [
            (10_000, None, 10_000),
            (10_000, Some(1_048_576), 10_000),
            (10_000, Some(10_512), 10_000),
            (10_000, Some(4_096), 3_584),
            (10_000, Some(64), 32),
            (10_000, Some(1), 1),
            (100, Some(1_024), 100),
        ] {
            assert_eq!(
                connections_within(connections, files),
                expected,
                "{files:?}"
            );
        }
    }
}
