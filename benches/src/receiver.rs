//! A webhook receiver on loopback, on a thread of its own.

use std::convert::Infallible;
use std::thread;
use std::time::Instant;

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, body::Incoming};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Time and body of a received delivery.
pub type Receipt = (Instant, Bytes);

/// Starts a receiver that responds at once; returns its URL and its receipts.
pub fn start() -> (String, UnboundedReceiver<Receipt>) {
    let (sender, receipts) = unbounded_channel();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { answer(TcpListener::from_std(listener).unwrap(), sender).await });
    });
    (url, receipts)
}

async fn answer(listener: TcpListener, sender: UnboundedSender<Receipt>) {
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        let sender = sender.clone();
        let service = service_fn(move |request| receive(request, sender.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
    }
}

async fn receive(
    request: Request<Incoming>,
    sender: UnboundedSender<Receipt>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let body = request.into_body().collect().await;
    let received_at = Instant::now();
    drop(body.map(|body| sender.send((received_at, body.to_bytes()))));
    let mut answer = Response::new(Empty::new());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    Ok(answer)
}
