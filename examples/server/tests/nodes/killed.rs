//! Nodes killed at random under load: acknowledged writes exist once, and each event is delivered.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::interval;

use crate::checks::{check_deliveries, check_posts, repeat};
use crate::client;
use crate::cluster::Cluster;
use crate::load::Load;
use crate::node::Node;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::receiver::Receiver;

/// Number of kills.
const KILLS: usize = 5;

/// Time between two kills.
const KILL_INTERVAL: Duration = Duration::from_secs(2);

/// Response time of the receiver: long enough that workers are killed during attempts.
const RESPONSE_DELAY: Duration = Duration::from_millis(200);

#[test]
fn killed_nodes_lose_and_repeat_no_write() {
    run_drill(async |urls| drop(run_with_kills(urls, 4, 3).await));
}

/// Kills nodes at random. Returns the metrics of all servers.
pub async fn run_with_kills(urls: BackendUrls, servers: usize, workers: usize) -> String {
    let mut cluster = Cluster::new(&urls, servers, workers, &["--token-budget", "1000000"]).await;
    let attempted = Mutex::new(BTreeSet::new());
    let receiver = Receiver::with_statuses(move |received| {
        thread::sleep(RESPONSE_DELAY);
        let is_first = attempted.lock().unwrap().insert(received.delivery());
        Some(if is_first { 503 } else { 204 })
    });
    let secret = cluster.add_webhook(&receiver.url, "post.created");
    let tokens = ["alice", "bob", "carol", "mod"].map(|member| cluster.token(member));

    let load = Load::start(&cluster.nodes, &tokens);
    kill_at_random(&mut cluster).await;
    let sent = load.finish().await;
    let mut responses = sent.iter().filter_map(|sent| sent.response.as_ref());
    let refused = responses.find(|response| response.status >= 400);
    assert!(refused.is_none(), "{refused:?}");

    cluster.database.end_runs().await;
    assert_eq!(repeat(&cluster.nodes, &sent).await, 0);
    let posts = check_posts(&cluster.database, &sent).await;

    cluster.replace_workers().await;
    check_deliveries(&receiver, &secret, &posts).await;
    let mut metrics = String::new();
    for node in cluster.nodes.addresses() {
        metrics += &block_in_place(|| client::get(&format!("http://{node}/metrics")).body);
    }
    block_in_place(|| cluster.stop());
    metrics
}

async fn kill_at_random(cluster: &mut Cluster) {
    let nodes = cluster.servers.len() + cluster.workers.len();
    let mut random = Random::new(0);
    let mut pace = interval(KILL_INTERVAL);
    pace.tick().await;
    for _ in 0..KILLS {
        pace.tick().await;
        block_in_place(|| cluster.replace(random.below(nodes), Node::kill));
    }
    pace.tick().await;
}
