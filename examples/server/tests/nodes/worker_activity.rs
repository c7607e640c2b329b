//! Checks that workers deliver.

use serde_json::json;

use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::wait::until;

/// Posts a reply and waits until the receiver has its event.
pub async fn a_reply_is_delivered(nodes: &Nodes, receiver: &Receiver, token: &str, words: &str) {
    let mut connections = ApiClient::new(nodes, Random::new(0));
    let reply = ApiRequest::new("POST", token, "/threads/1/posts", &json!({ "body": words }));
    assert_eq!(connections.send(&reply).await.unwrap().status, 201);
    until("its event", async || {
        std::iter::from_fn(|| receiver.try_next())
            .any(|received| received.json()["data"]["post"]["body"] == words)
    })
    .await;
}
