//! Replies through the form and through the API are sent to webhook endpoints.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::webhook::{Topic, WebhookSecret, verify};
use http::HeaderMap;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::added::webhooks;
use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC};

/// Maximum duration of a delivery.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Starts a receiver on the loopback interface. Returns its URL and its requests.
async fn receiver() -> (String, UnboundedReceiver<(HeaderMap, Bytes)>) {
    let (sender, requests) = unbounded_channel();
    let receive = move |headers: HeaderMap, body: Bytes| {
        sender.send((headers, body)).unwrap();
        std::future::ready(())
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let app = Router::new().route("/", post(receive));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, requests)
}

/// Verifies the next request with `secret` and returns the body of its post.
async fn next_post(
    requests: &mut UnboundedReceiver<(HeaderMap, Bytes)>,
    secret: &WebhookSecret,
) -> Value {
    let (headers, body) = timeout(TIMEOUT, requests.recv()).await.unwrap().unwrap();
    let secrets = std::slice::from_ref(secret);
    let delivery = verify(secrets, &headers, &body, SystemClock.now()).unwrap();
    assert_eq!(delivery.topic, Topic::POST_CREATED);
    let event: Value = serde_json::from_slice(&body).unwrap();
    event["data"]["post"]["body"].clone()
}

#[test]
fn a_reply_through_the_form_or_the_api_is_delivered_signed() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let (url, mut requests) = receiver().await;
        let secret = webhooks::register(&site.club, site.alice, url)
            .await
            .unwrap();
        let worker = webhooks::start(&site.club).unwrap();

        assert_eq!(site.submit_reply(TOPIC, "Green.").await.status, 303);
        assert_eq!(next_post(&mut requests, &secret).await, "Green.");
        assert_eq!(site.post_reply(TOPIC, "Black.").await.status, 201);
        assert_eq!(next_post(&mut requests, &secret).await, "Black.");
        worker.stop().await;
        assert_eq!(site.count("forum_api_attempts").await, 2);
    });
}
