//! Delivery of an event to a receiver.

use serde_json::json;

use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::wait::wait_until;

/// Posts a reply and waits until the receiver has its event.
pub async fn check_delivery(nodes: &Nodes, receiver: &Receiver, token: &str, body: &str) {
    let mut connections = ApiClient::new(nodes, Random::new(0));
    let reply = ApiRequest::new("POST", token, "/threads/1/posts", &json!({ "body": body }));
    assert_eq!(connections.send(&reply).await.unwrap().status, 201);
    wait_until("the event of the reply", async || {
        std::iter::from_fn(|| receiver.try_next())
            .any(|received| received.json()["data"]["post"]["body"] == body)
    })
    .await;
}
