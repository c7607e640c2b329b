//! A receiver of webhooks: it verifies each delivery, prints it once, and answers that it has it.
//!
//! `WEBHOOK_SECRETS=whsec_… cargo run --example receiver [ADDRESS]`, by default on 127.0.0.1:9090. While a secret is
//! rotated, give the old one and the new one, with a comma between.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use forum_api::model::DeliveryId;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::webhook::{Event, Verified, WebhookSecret, verify};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

struct Receiver {
    secrets: Vec<WebhookSecret>,
    seen: Mutex<HashSet<DeliveryId>>,
}

impl Receiver {
    async fn receive(&self, request: Request<Incoming>) -> StatusCode {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, Event::MAX_BODY).collect().await else {
            return StatusCode::PAYLOAD_TOO_LARGE;
        };
        let body = body.to_bytes();
        match verify(&self.secrets, &head.headers, &body, SystemClock.now()) {
            Ok(delivery) => self.take(delivery),
            Err(why) => {
                eprintln!("refused: {why}");
                StatusCode::UNAUTHORIZED
            }
        }
    }

    /// A delivery comes at least once, so that one that was seen before is as good as taken. Where taking one means
    /// more than to print it, its id is kept in the same transaction.
    fn take(&self, delivery: Verified<'_>) -> StatusCode {
        let id = delivery.delivery.to_string();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.insert(delivery.delivery) {
            let body = String::from_utf8_lossy(delivery.body);
            println!("{} {id} {body}", delivery.topic);
        }
        StatusCode::NO_CONTENT
    }
}

fn empty(status: StatusCode) -> Result<Response<String>, Infallible> {
    let mut response = Response::new(String::new());
    *response.status_mut() = status;
    Ok(response)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let secrets = std::env::var("WEBHOOK_SECRETS")
        .map_err(|_| "set WEBHOOK_SECRETS to the endpoint's secret")?;
    let receiver = Arc::new(Receiver {
        secrets: secrets
            .split(',')
            .map(WebhookSecret::parse)
            .collect::<Result<_, _>>()?,
        seen: Mutex::default(),
    });
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:9090")).await?;
    println!("http://{}/", listener.local_addr()?);
    loop {
        // A connection that was gone before it was taken is no reason to stop.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let receiver = receiver.clone();
        let service = service_fn(move |request| {
            let receiver = receiver.clone();
            async move { empty(receiver.receive(request).await) }
        });
        // Without a timer hyper waits indefinitely for the head of a request.
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}
