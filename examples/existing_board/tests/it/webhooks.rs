//! What is written through either door is sent to who registered.

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
use crate::site::Site;

const TOPIC: i64 = 1;

/// Longer than a delivery takes.
const SOON: Duration = Duration::from_secs(20);

/// What a receiver on loopback gets, and its address.
async fn receiver() -> (String, UnboundedReceiver<(HeaderMap, Bytes)>) {
    let (seen, gets) = unbounded_channel();
    let receive = move |headers: HeaderMap, body: Bytes| {
        seen.send((headers, body)).unwrap();
        std::future::ready(())
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let app = Router::new().route("/", post(receive));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, gets)
}

/// The body of the next entry that the receiver is told of, by whoever has the secret.
async fn told(gets: &mut UnboundedReceiver<(HeaderMap, Bytes)>, secret: &WebhookSecret) -> Value {
    let (headers, body) = timeout(SOON, gets.recv()).await.unwrap().unwrap();
    let secrets = std::slice::from_ref(secret);
    let delivery = verify(secrets, &headers, &body, SystemClock.now()).unwrap();
    assert_eq!(delivery.topic, Topic::POST_CREATED);
    let told: Value = serde_json::from_slice(&body).unwrap();
    told["data"]["post"]["body"].clone()
}

#[test]
fn a_reply_through_either_door_arrives_signed() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let (url, mut gets) = receiver().await;
        let secret = webhooks::register(&site.club, site.alice, url)
            .await
            .unwrap();
        let worker = webhooks::start(&site.club).unwrap();

        assert_eq!(site.type_reply(TOPIC, "Green.").await.status, 303);
        assert_eq!(told(&mut gets, &secret).await, "Green.");
        assert_eq!(site.post_reply(TOPIC, "Black.").await.status, 201);
        assert_eq!(told(&mut gets, &secret).await, "Black.");
        worker.stop().await;
        assert_eq!(site.count("forum_api_attempts").await, 2);
    });
}
