//! Outages of the stores under load.

use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

use crate::audit::figures::statuses;
use crate::client;
use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest};
use crate::load::{Load, Sent, clients};
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::redis::RedisServer as Redis;
use crate::scale::Scale;
use crate::stores::Postgres;
use crate::wait::wait_until;
use crate::worker_activity::check_delivery;

/// Time after a store's return in which the nodes recover.
const RECOVERY: Duration = Duration::from_secs(2);

/// Time between two requests of a client.
const CLIENT_INTERVAL: Duration = Duration::from_millis(60);

/// Budgets that are never used up, with long windows.
const BUDGETS: [&str; 4] = ["--token-budget", "1000000", "--guest-budget", "1000000"];

#[test]
fn nodes_recover_from_outages_within_two_seconds() {
    run_drill(|_| run_with_outages(Scale::new(4, 3)));
}

/// Remaining units and end of the window of an idle member, on each node.
type RemainingUnits = Vec<(u64, u64)>;

async fn run_with_outages(scale: Scale) {
    let (mut postgres, mut redis) = (Postgres::new(), Redis::new());
    let addresses = BackendUrls {
        postgres: postgres.url.clone(),
        redis: redis.url(),
    };
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let receiver = Receiver::new();
    cluster.add_webhook(&receiver.url, "post.created");
    let tokens = ["alice", "bob", "carol", "mod"].map(|name| (name, cluster.token(name)));
    let idle_member = cluster.token("admin");
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));
    let phase = scale.load_duration / 5;

    let load = Load::start(&cluster.nodes, clients(&tokens), CLIENT_INTERVAL);
    let before = remaining_units(&cluster, &mut connections, &idle_member).await;
    sleep(phase).await;
    let redis_stopped = Instant::now();
    redis.kill();
    let without_redis = remaining_units(&cluster, &mut connections, &idle_member).await;
    sleep(phase).await;
    block_in_place(|| redis.start());
    let redis_returned = Instant::now();
    wait_until("all nodes to share budgets", async || {
        let shared = remaining_units(&cluster, &mut connections, &idle_member).await;
        shared.windows(2).all(|pair| pair[0].0 > pair[1].0)
    })
    .await;
    let redis_shared = redis_returned.elapsed();
    sleep(phase).await;
    let postgres_stopped = Instant::now();
    postgres.stop();
    for node in cluster.nodes.addresses() {
        let health = block_in_place(|| client::get(&format!("http://{node}/health")));
        assert_eq!(health.status, 503);
    }
    sleep(phase).await;
    postgres.start();
    let postgres_returned = Instant::now();
    sleep(phase.max(2 * RECOVERY)).await;
    let sent = load.finish().await;

    let during = |from: Instant, to: Instant| {
        sent.iter()
            .filter(move |sent| from <= sent.ended() && sent.ended() < to)
    };
    let (began, ended) = (
        sent.iter().map(|sent| sent.at).min().unwrap(),
        Instant::now(),
    );
    for (what, from, to) in [
        ("before", began, redis_stopped),
        ("without Redis", redis_stopped, redis_returned),
        ("with Redis again", redis_returned, postgres_stopped),
        ("without Postgres", postgres_stopped, postgres_returned),
        (
            "with Postgres again, 2 s",
            postgres_returned,
            postgres_returned + RECOVERY,
        ),
        ("afterwards", postgres_returned + RECOVERY, ended),
    ] {
        println!("{what}: {:?}", statuses(during(from, to)));
    }
    println!("all nodes shared Redis {redis_shared:?} after its restart");
    let last_failure = sent
        .iter()
        .filter(|sent| is_failure(sent))
        .map(Sent::ended)
        .max();
    println!(
        "last failure {:?} after the return of Postgres",
        last_failure.map(|at| at - postgres_returned)
    );

    assert!(redis_shared < RECOVERY, "{redis_shared:?}");
    for (before, without_redis) in before.iter().zip(&without_redis) {
        assert!(
            without_redis.0 < before.0 && without_redis.1.abs_diff(before.1) <= 1,
            "{before:?} {without_redis:?}"
        );
    }
    let failed = during(began, postgres_stopped).find(|sent| is_failure(sent));
    assert!(failed.is_none(), "{failed:?}");
    let failed = during(postgres_returned + RECOVERY, ended).find(|sent| is_failure(sent));
    assert!(failed.is_none(), "{failed:?}");
    assert!(
        during(postgres_stopped, postgres_returned).any(is_failure),
        "no request failed during the outage"
    );
    check_delivery(&cluster.nodes, &receiver, &tokens[0].1, "Back again.").await;
    block_in_place(|| cluster.stop());
}

fn is_failure(sent: &Sent) -> bool {
    sent.response().is_none_or(|reply| reply.status >= 500)
}

async fn remaining_units(
    cluster: &Cluster,
    connections: &mut ApiClient,
    token: &str,
) -> RemainingUnits {
    let mut remaining_units = Vec::new();
    for node in cluster.nodes.addresses() {
        let reply = connections
            .send_to(node, &ApiRequest::get(token, "/forums"))
            .await
            .unwrap();
        let named = |name| reply.header_number(name).unwrap();
        remaining_units.push((named("x-ratelimit-remaining"), named("x-ratelimit-reset")));
    }
    remaining_units
}
