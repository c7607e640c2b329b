//! A reply whose command is blocked until it is released.

use serde_json::json;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest, ApiResponse};
use crate::random::Random;
use crate::wait::wait_until;

/// Locks posts against writes, not against reads.
const HOLD: &str = "BEGIN; LOCK TABLE post IN SHARE ROW EXCLUSIVE MODE";

/// Number of transactions that wait for the lock.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// A blocked reply on the first node.
pub struct BlockedWrite {
    pub request: ApiRequest,
    /// The client that waits for the response.
    pub sender: JoinHandle<Option<ApiResponse>>,
    lock: Client,
}

/// A reply whose body is its idempotency key.
pub fn reply(token: &str, words: &str) -> ApiRequest {
    ApiRequest::new("POST", token, "/threads/1/posts", &json!({ "body": words })).with_key(words)
}

impl BlockedWrite {
    /// Sends a reply and waits until it is blocked.
    pub async fn new(cluster: &Cluster, words: &str) -> Self {
        let lock = cluster.database.connect().await;
        lock.batch_execute(HOLD).await.unwrap();
        let request = reply(&cluster.token("alice"), words);
        let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));
        let (node, sent) = (cluster.nodes.addresses()[0], request.clone());
        let sender = tokio::spawn(async move { connections.send_to(node, &sent).await });
        let waits = async || {
            assert!(!sender.is_finished(), "the reply was not blocked");
            cluster.database.count(WAITING).await > 0
        };
        wait_until("the reply to be blocked", waits).await;
        Self {
            request,
            sender,
            lock,
        }
    }

    /// Releases the lock.
    pub async fn release(&self) {
        self.lock.batch_execute("ROLLBACK").await.unwrap();
    }
}
