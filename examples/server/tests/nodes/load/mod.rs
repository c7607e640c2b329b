//! Concurrent members and guests, each using all nodes.

mod client;
mod kinds;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::connection::{ApiRequest, ApiResponse, Nodes};

pub use self::client::Client;
pub use self::kinds::{KINDS, Kind};

/// A sent request.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Kind of request.
    pub kind: &'static Kind,
    /// Owner of the budget: a token, or a guest's address.
    pub budget_owner: String,
    pub request: ApiRequest,
    /// True if the request has an idempotency key.
    pub has_key: bool,
    /// Time of sending.
    pub at: Instant,
    /// Response time.
    pub duration: Duration,
    /// The response; `None` if the connection dropped before it. Bodies of reads are omitted.
    pub reply: Option<ApiResponse>,
}

impl Sent {
    /// Time of the response or of the dropped connection.
    pub fn ended(&self) -> Instant {
        self.at + self.duration
    }

    /// Returns whether the client knows that the request succeeded.
    pub fn is_done(&self) -> bool {
        self.response().is_some_and(|reply| reply.status < 300)
    }

    pub fn response(&self) -> Option<&ApiResponse> {
        self.reply.as_ref()
    }
}

/// Clients that send requests until they are stopped.
#[derive(Debug)]
pub struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<Sent>>>,
}

impl Load {
    /// Starts these clients. Each sends one request after the other, with at least `pause` between two starts.
    pub fn start(nodes: &Nodes, clients: Vec<Client>, pause: Duration) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let start = |mut client: Client| {
            let (stop, nodes) = (stop.clone(), nodes.clone());
            tokio::spawn(async move {
                let mut pace = interval(pause);
                pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
                let mut connections = client.connections(&nodes);
                let mut sent = Vec::new();
                while !stop.load(Ordering::SeqCst) {
                    pace.tick().await;
                    sent.extend(client.send_random(&mut connections).await);
                }
                sent
            })
        };
        let clients = clients.into_iter().map(start).collect();
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

/// Three clients for each token, and two guests in each of two address prefixes.
pub fn clients(members: &[(&str, String)]) -> Vec<Client> {
    let names = ["198.51.100.7", "203.0.113.9"];
    let guests = names.iter().flat_map(|address| [address; 2]);
    let members = members.iter().flat_map(|member| [member; 3]);
    let members = members
        .enumerate()
        .map(|(number, (name, token))| Client::member(number, name, token));
    let guests = guests
        .enumerate()
        .map(|(number, address)| Client::guest(100 + number, address));
    members.chain(guests).collect()
}
