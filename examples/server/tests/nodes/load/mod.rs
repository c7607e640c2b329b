//! Members and guests who use the board all at once, each through any of the nodes.

mod client;
mod kinds;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::connection::{Ask, Nodes, Reply};

pub use self::client::Client;
pub use self::kinds::{KINDS, Kind};

/// A request that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What it was for.
    pub kind: &'static Kind,
    /// Whose budget it was charged to: a token, or a guest's address.
    pub payer: String,
    /// The request.
    pub ask: Ask,
    /// Whether it came with a key.
    pub has_key: bool,
    /// When it was sent.
    pub at: Instant,
    /// How long the answer took.
    pub took: Duration,
    /// The answer; `None` when the connection dropped before. Of a read, the body is left out.
    pub reply: Option<Reply>,
}

impl Sent {
    /// When the answer came, or the connection dropped.
    pub fn ended(&self) -> Instant {
        self.at + self.took
    }

    /// Whether it was done, as far as its sender knows.
    pub fn is_done(&self) -> bool {
        self.answered().is_some_and(|reply| reply.status < 300)
    }

    /// The answer, if there was one.
    pub fn answered(&self) -> Option<&Reply> {
        self.reply.as_ref()
    }
}

/// People who are at it until they are told to stop.
#[derive(Debug)]
pub struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<Sent>>>,
}

impl Load {
    /// Lets these clients each send a request after the other, with a `pause` from start to start at least.
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
                    sent.extend(client.turn(&mut connections).await);
                }
                sent
            })
        };
        let clients = clients.into_iter().map(start).collect();
        Self { stop, clients }
    }

    /// Tells them to stop; gives what they sent.
    pub async fn finish(self) -> Vec<Sent> {
        self.stop.store(true, Ordering::SeqCst);
        let mut sent = Vec::new();
        for client in self.clients {
            sent.extend(client.await.unwrap());
        }
        sent
    }
}

/// Three who share each of these tokens, and two guests of each of two address prefixes.
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
