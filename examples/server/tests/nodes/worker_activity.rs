//! That workers are at work.

use serde_json::json;

use crate::connection::{Ask, Connections, Nodes};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::wait::until;

/// Replies with these words, and waits until the receiver was told of them.
pub async fn a_reply_is_told(nodes: &Nodes, receiver: &Receiver, token: &str, words: &str) {
    let mut connections = Connections::new(nodes, Random::new(0));
    let reply = Ask::new("POST", token, "/threads/1/posts", &json!({ "body": words }));
    assert_eq!(connections.ask(&reply).await.unwrap().status, 201);
    until("its event", async || {
        std::iter::from_fn(|| receiver.already())
            .any(|received| received.json()["data"]["post"]["body"] == words)
    })
    .await;
}
