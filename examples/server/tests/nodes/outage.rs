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
use crate::wait::until;
use crate::worker_activity::a_reply_is_delivered;

/// Time after a store's return in which the nodes recover.
const RECOVERY: Duration = Duration::from_secs(2);

/// Time between two requests of a client.
const PACE: Duration = Duration::from_millis(60);

/// Budgets that are never used up, with long windows.
const BUDGETS: [&str; 4] = ["--token-budget", "1000000", "--guest-budget", "1000000"];

#[test]
fn nodes_recover_from_outages_within_two_seconds() {
    run_drill(|_| outage(Scale::new(4, 3)));
}

/// Remaining units and end of the window of an idle member, on each node.
type Left = Vec<(u64, u64)>;

async fn outage(scale: Scale) {
    let (mut postgres, mut redis) = (Postgres::new(), Redis::new());
    let addresses = BackendUrls {
        postgres: postgres.url.clone(),
        redis: redis.url(),
    };
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let receiver = Receiver::new();
    cluster.add_webhook(&receiver.url, "post.created");
    let tokens = ["alice", "bob", "carol", "mod"].map(|name| (name, cluster.token(name)));
    let quiet = cluster.token("admin");
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));
    let phase = scale.load_duration / 5;

    let load = Load::start(&cluster.nodes, clients(&tokens), PACE);
    let before = left(&cluster, &mut connections, &quiet).await;
    sleep(phase).await;
    let redis_went = Instant::now();
    redis.kill();
    let alone = left(&cluster, &mut connections, &quiet).await;
    sleep(phase).await;
    block_in_place(|| redis.start());
    let redis_returned = Instant::now();
    until("every node shares budgets again", async || {
        let shared = left(&cluster, &mut connections, &quiet).await;
        shared.windows(2).all(|pair| pair[0].0 > pair[1].0)
    })
    .await;
    let redis_shared = redis_returned.elapsed();
    sleep(phase).await;
    let postgres_went = Instant::now();
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
        ("before", began, redis_went),
        ("without Redis", redis_went, redis_returned),
        ("with Redis again", redis_returned, postgres_went),
        ("without Postgres", postgres_went, postgres_returned),
        (
            "with Postgres again, 2 s",
            postgres_returned,
            postgres_returned + RECOVERY,
        ),
        ("afterwards", postgres_returned + RECOVERY, ended),
    ] {
        println!("{what}: {:?}", statuses(during(from, to)));
    }
    println!("Redis was shared by all again {redis_shared:?} after its return");
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
    for (before, alone) in before.iter().zip(&alone) {
        assert!(
            alone.0 < before.0 && alone.1.abs_diff(before.1) <= 1,
            "{before:?} {alone:?}"
        );
    }
    let failed = during(began, postgres_went).find(|sent| is_failure(sent));
    assert!(failed.is_none(), "{failed:?}");
    let failed = during(postgres_returned + RECOVERY, ended).find(|sent| is_failure(sent));
    assert!(failed.is_none(), "{failed:?}");
    assert!(
        during(postgres_went, postgres_returned).any(is_failure),
        "it was missed"
    );
    a_reply_is_delivered(&cluster.nodes, &receiver, &tokens[0].1, "Back again.").await;
    block_in_place(|| cluster.stop());
}

fn is_failure(sent: &Sent) -> bool {
    sent.response().is_none_or(|reply| reply.status >= 500)
}

async fn left(cluster: &Cluster, connections: &mut ApiClient, token: &str) -> Left {
    let mut left = Vec::new();
    for node in cluster.nodes.addresses() {
        let reply = connections
            .send_to(node, &ApiRequest::get(token, "/forums"))
            .await
            .unwrap();
        let named = |name| reply.header_number(name).unwrap();
        left.push((named("x-ratelimit-remaining"), named("x-ratelimit-reset")));
    }
    left
}
