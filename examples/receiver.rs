//! A webhook receiver. It verifies each delivery, prints it once, and acknowledges it.
//!
//! `WEBHOOK_SECRETS=whsec_… cargo run --example receiver [ADDRESS]`, by default on 127.0.0.1:9090. While a secret
//! is rotated, pass the old and the new one, separated by a comma.

#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

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
        let Ok(body) = Limited::new(body, Event::MAX_BODY_LEN).collect().await else {
            return StatusCode::PAYLOAD_TOO_LARGE;
        };
        let body = body.to_bytes();
        match verify(&self.secrets, &head.headers, &body, SystemClock.now()) {
            Ok(delivery) => self.accept(delivery),
            Err(error) => {
                eprintln!("rejected: {error}");
                StatusCode::UNAUTHORIZED
            }
        }
    }

    /// Prints a new delivery. Each delivery arrives at least once, so a repeated one is acknowledged without effect. A
    /// receiver that stores data stores the delivery's id in the same transaction.
    fn accept(&self, delivery: Verified<'_>) -> StatusCode {
        let id = delivery.delivery_id.to_string();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.insert(delivery.delivery_id) {
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
        secrets: secrets.split(',').map(WebhookSecret::parse).collect::<Result<_, _>>()?,
        seen: Mutex::default(),
    });
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:9090")).await?;
    println!("http://{}/", listener.local_addr()?);
    loop {
        // `accept` fails if the client has disconnected already.
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
