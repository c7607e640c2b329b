//! Receivers on loopback, on a thread of their own.

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

/// A delivery as it came: when, and its body.
pub type Receipt = (Instant, Bytes);

/// One that answers at once: its URL, and what comes.
pub fn fast() -> (String, UnboundedReceiver<Receipt>) {
    let (told, receipts) = unbounded_channel();
    let url = listen(move |listener| answer(listener, told));
    (url, receipts)
}

/// The URL of one that takes connections and never answers.
pub fn hanging() -> String {
    listen(|listener| async move {
        let mut held = Vec::new();
        loop {
            held.push(listener.accept().await.unwrap());
        }
    })
}

fn listen<F: Future>(run: impl FnOnce(TcpListener) -> F + Send + 'static) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(|| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { run(TcpListener::from_std(listener).unwrap()).await });
    });
    url
}

async fn answer(listener: TcpListener, told: UnboundedSender<Receipt>) {
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        let told = told.clone();
        let service = service_fn(move |request| receive(request, told.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
    }
}

async fn receive(
    request: Request<Incoming>,
    told: UnboundedSender<Receipt>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let body = request.into_body().collect().await;
    let came = Instant::now();
    drop(body.map(|body| told.send((came, body.to_bytes()))));
    let mut answer = Response::new(Empty::new());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    Ok(answer)
}
