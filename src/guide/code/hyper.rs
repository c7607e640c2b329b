//! hyper 1 with HTTP/1 and HTTP/2. Behind TLS, ALPN must offer `h2`.

use std::convert::Infallible;
use std::net::SocketAddr;

use forum_api::ForumApi;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;

pub async fn serve(api: ForumApi, stream: TcpStream, peer: SocketAddr) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let api = api.clone();
        async move { Ok::<_, Infallible>(api.respond(request).await) }
    });
    let mut server = auto::Builder::new(TokioExecutor::new());
    // By default, hyper buffers up to 400 KiB of a head, and waits indefinitely for it without a timer.
    let mut http1 = server.http1();
    http1.timer(TokioTimer::new()).max_buf_size(32 * 1024);
    server.http2().timer(TokioTimer::new());
    let connection = server.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(error, "connection failed");
    }
}
