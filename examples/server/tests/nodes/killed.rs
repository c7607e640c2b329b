//! Nodes killed at random under load: acknowledged writes exist once, and each event is delivered.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::interval;

use crate::cluster::Cluster;
use crate::connection::{ApiClient, Nodes};
use crate::load::{Load, Sent};
use crate::node::Node;
use crate::postgres::Database;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::wait::wait_until;

const SERVERS: usize = 4;
const WORKERS: usize = 3;

/// Number of kills.
const KILLS: usize = 5;

/// Time between two kills.
const KILL_INTERVAL: Duration = Duration::from_secs(2);

/// Response time of the receiver: long enough that workers are killed during attempts.
const RESPONSE_DELAY: Duration = Duration::from_millis(200);

#[test]
fn killed_nodes_lose_and_repeat_no_write() {
    run_drill(run_with_kills);
}

async fn run_with_kills(urls: BackendUrls) {
    let options = ["--token-budget", "1000000"];
    let mut cluster = Cluster::new(&urls, SERVERS, WORKERS, &options).await;
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
    repeat(&cluster.nodes, &sent).await;
    let posts = check_posts(&cluster.database, &sent).await;

    cluster.replace_workers().await;
    let mut deliveries = BTreeMap::<String, BTreeSet<String>>::new();
    wait_until("the event of each post", async || {
        for received in iter::from_fn(|| receiver.try_next()) {
            assert!(received.is_signed_with(&secret), "{received:?}");
            let post = &received.json()["data"]["post"]["postId"];
            let accepted = (received.status == Some(204)).then(|| received.delivery());
            let post = deliveries.entry(post.as_str().unwrap().into());
            post.or_default().extend(accepted);
        }
        deliveries.keys().eq(&posts) && deliveries.values().all(|accepted| !accepted.is_empty())
    })
    .await;
    let mut repeated = deliveries.iter().filter(|(_, ids)| ids.len() > 1);
    assert_eq!(repeated.next(), None);
    block_in_place(|| cluster.stop());
}

async fn kill_at_random(cluster: &mut Cluster) {
    let mut random = Random::new(0);
    let mut pace = interval(KILL_INTERVAL);
    pace.tick().await;
    for _ in 0..KILLS {
        pace.tick().await;
        block_in_place(|| cluster.replace(random.below(SERVERS + WORKERS), Node::kill));
    }
    pace.tick().await;
}

/// Sends each reply again with its key. An acknowledged one gets its first response. Otherwise the outcome may be
/// unknown, or the first request did not reach a node.
async fn repeat(nodes: &Nodes, sent: &[Sent]) {
    let mut client = ApiClient::new(nodes, Random::new(0));
    for sent in sent.iter().filter(|sent| sent.text.is_some()) {
        let repeated = client.send(&sent.request).await.unwrap();
        match &sent.response {
            Some(first) => {
                assert!(repeated.is_replayed(), "{sent:?} {repeated:?}");
                assert_eq!(repeated.body, first.body);
            }
            None => assert!([201, 409].contains(&repeated.status), "{repeated:?}"),
        }
    }
}

/// Checks that each acknowledged reply is stored, and none twice. Returns the ids of all.
async fn check_posts(database: &Database, sent: &[Sent]) -> BTreeSet<String> {
    let query = "SELECT CAST(id AS TEXT), body FROM post WHERE body LIKE 'Still here %'";
    let rows = database.connect().await.query(query, &[]).await.unwrap();
    let mut posts = BTreeMap::<String, Vec<String>>::new();
    for row in rows {
        posts.entry(row.get(1)).or_default().push(row.get(0));
    }
    for (text, ids) in &posts {
        assert_eq!(ids.len(), 1, "{text}");
    }
    for sent in sent {
        if let (Some(text), Some(response)) = (&sent.text, &sent.response) {
            assert_eq!(response.json()["postId"], posts[text][0], "{text}");
        }
    }
    posts.into_values().flatten().collect()
}
