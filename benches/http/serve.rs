//! Two servers on hyper that differ only in their service.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use forum_api::ForumApi;
use http::HeaderMap;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tower::ServiceExt;

use crate::static_board::{StaticBoard, body};

/// Response of bare hyper.
#[derive(Clone)]
pub enum Bare {
    Bytes(Bytes),
    Posts(Arc<StaticBoard>),
}

impl Bare {
    fn body(&self) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            // Clones the page, because a board builds its posts for each request.
            Self::Posts(board) => body(&board.large.clone()).into(),
        }
    }
}

/// Serves the same response to each request.
pub fn bare(headers: HeaderMap, answer: Bare) -> SocketAddr {
    serve(move |stream, _| {
        let (headers, answer) = (headers.clone(), answer.clone());
        let service = service_fn(move |_: Request<Incoming>| {
            let mut response = Response::new(Full::new(answer.body()));
            *response.headers_mut() = headers.clone();
            async move { Ok::<_, Infallible>(response) }
        });
        tokio::spawn(http().serve_connection(TokioIo::new(stream), service));
    })
}

/// Serves the API as `examples/hyper.rs` does.
pub fn whole(api: ForumApi) -> SocketAddr {
    serve(move |stream, peer| {
        let with_peer = move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request
        };
        let service = TowerToHyperService::new(api.clone().map_request(with_peer));
        tokio::spawn(http().serve_connection(TokioIo::new(stream), service));
    })
}

fn http() -> hyper::server::conn::http1::Builder {
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new());
    http
}

/// Accepts connections on two threads of its own.
fn serve(take: impl Fn(TcpStream, SocketAddr) + Send + 'static) -> SocketAddr {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let (stream, peer) = listener.accept().await.unwrap();
                take(stream, peer);
            }
        });
    });
    address
}
