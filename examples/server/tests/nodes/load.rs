//! Members who reply and read at the same time, each over all nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::client::Response;
use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::random::Random;

/// Number of clients.
const CLIENTS: usize = 8;

/// Time between two replies of a client.
const REPLY_INTERVAL: Duration = Duration::from_millis(100);

/// A sent request.
#[derive(Debug)]
pub struct Sent {
    pub request: ApiRequest,
    /// The text of a reply, which is unique; `None` for a read.
    pub text: Option<String>,
    /// Time of the response or of the dropped connection.
    pub ended: Instant,
    /// The response; `None` if the connection was dropped before it.
    pub response: Option<Response>,
}

impl Sent {
    /// Returns the response to a reply that was stored, with the text of the reply.
    pub fn acknowledged_reply(&self) -> Option<(&str, &Response)> {
        let response = self.response.as_ref()?;
        let text = self.text.as_deref()?;
        (response.status == 201).then_some((text, response))
    }

    pub fn is_failure(&self) -> bool {
        self.response.as_ref().is_none_or(|response| response.status >= 500)
    }
}

/// Clients that send requests until they are stopped.
#[derive(Debug)]
pub struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<Sent>>>,
}

impl Load {
    /// Starts clients of the owners of these tokens.
    pub fn start(nodes: &Nodes, tokens: &[String]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let clients = tokens
            .iter()
            .cycle()
            .take(CLIENTS)
            .enumerate()
            .map(|(number, token)| {
                let nodes = nodes.clone();
                let token = token.clone();
                let stop = stop.clone();
                tokio::spawn(async move { send_until(&stop, &nodes, number, &token).await })
            })
            .collect();
        Self { stop, clients }
    }

    /// Stops the clients and returns their requests.
    pub async fn finish(self) -> Vec<Sent> {
        self.stop.store(true, Ordering::SeqCst);
        let mut sent = Vec::new();
        for client in self.clients {
            sent.extend(client.await.unwrap());
        }
        sent
    }
}

async fn send_until(stop: &AtomicBool, nodes: &Nodes, number: usize, token: &str) -> Vec<Sent> {
    let mut client = ApiClient::new(nodes, Random::new(number as u64));
    let mut pace = interval(REPLY_INTERVAL);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sent = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        pace.tick().await;
        let text = format!("Still here {number}-{}.", sent.len());
        let reply = ApiRequest::new("POST", token, "/threads/1/posts", &json!({ "body": text }))
            .with_key(&text.replace(' ', "-"));
        let read = ApiRequest::get(token, "/threads/1/posts?limit=10");
        for (request, text) in [(reply, Some(text)), (read, None)] {
            let response = client.send(&request).await;
            sent.push(Sent { request, text, ended: Instant::now(), response });
        }
    }
    sent
}
