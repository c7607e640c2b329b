//! Outages of the stores under load.

use std::iter;
use std::time::Duration;

use serde_json::json;
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

use crate::client;
use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest};
use crate::load::Load;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::redis::RedisServer as Redis;
use crate::stores::Postgres;
use crate::wait::wait_until;

/// Time after a store's return in which the nodes recover.
const RECOVERY: Duration = Duration::from_secs(2);

/// Time before, during and between the outages.
const PHASE: Duration = Duration::from_secs(2);

#[test]
fn nodes_recover_from_outages_within_two_seconds() {
    run_drill(|_| run_with_outages());
}

/// Remaining units and end of the window of an idle member, on each node.
pub type RemainingUnits = Vec<(u64, u64)>;

async fn run_with_outages() {
    let mut postgres = Postgres::new();
    let mut redis = Redis::new();
    let addresses =
        BackendUrls { postgres: postgres.url.clone(), redis: redis.url(), replicas: Vec::new() };
    let mut cluster = Cluster::new(&addresses, 4, 3, &["--token-budget", "1000000"]).await;
    let receiver = Receiver::new();
    cluster.add_webhook(&receiver.url, "post.created");
    let tokens = ["alice", "bob", "carol", "mod"].map(|name| cluster.token(name));
    let idle_member = cluster.token("admin");
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));

    let load = Load::start(&cluster.nodes, &tokens);
    let before = remaining_units(&cluster, &mut connections, &idle_member).await;
    sleep(PHASE).await;
    redis.kill();
    let without_redis = remaining_units(&cluster, &mut connections, &idle_member).await;
    sleep(PHASE).await;
    block_in_place(|| redis.start());
    let redis_returned = Instant::now();
    wait_until("all nodes to share budgets", async || {
        let shared = remaining_units(&cluster, &mut connections, &idle_member).await;
        shared.windows(2).all(|pair| pair[0].0 > pair[1].0)
    })
    .await;
    let redis_shared = redis_returned.elapsed();
    sleep(PHASE).await;
    let postgres_stopped = Instant::now();
    postgres.stop();
    for node in cluster.nodes.addresses() {
        let health = block_in_place(|| client::get(&format!("http://{node}/health")));
        assert_eq!(health.status, 503);
    }
    sleep(PHASE).await;
    postgres.start();
    let postgres_returned = Instant::now();
    sleep(2 * RECOVERY).await;
    let sent = load.finish().await;

    assert!(redis_shared < RECOVERY, "{redis_shared:?}");
    for (before, without_redis) in before.iter().zip(&without_redis) {
        let is_close = without_redis.0 < before.0 && without_redis.1.abs_diff(before.1) <= 1;
        assert!(is_close, "{before:?} {without_redis:?}");
    }
    let failures: Vec<_> = sent.iter().filter(|sent| sent.is_failure()).collect();
    let outage = postgres_stopped..postgres_returned + RECOVERY;
    let unexpected = failures.iter().find(|sent| !outage.contains(&sent.ended));
    assert!(unexpected.is_none(), "{unexpected:?}");
    assert!(!failures.is_empty(), "no request failed during the outage");

    let body = "Back again.";
    let reply = ApiRequest::new("POST", &tokens[0], "/threads/1/posts", &json!({ "body": body }));
    assert_eq!(connections.send(&reply).await.unwrap().status, 201);
    wait_until("the event of a reply after the outages", async || {
        iter::from_fn(|| receiver.try_next())
            .any(|received| received.json()["data"]["post"]["body"] == body)
    })
    .await;
    block_in_place(|| cluster.stop());
}

/// Returns the remaining units and the end of the window of a member, on each node, after one request to each.
pub async fn remaining_units(
    cluster: &Cluster,
    connections: &mut ApiClient,
    token: &str,
) -> RemainingUnits {
    let mut units = Vec::new();
    for node in cluster.nodes.addresses() {
        let request = ApiRequest::get(token, "/forums");
        let reply = connections.send_to(node, &request).await.unwrap();
        let named = |name| reply.header_number(name).unwrap();
        units.push((named("x-ratelimit-remaining"), named("x-ratelimit-reset")));
    }
    units
}
