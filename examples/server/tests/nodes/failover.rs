//! Loss of the primary and a planned switch-over to its synchronous standby, under load.

use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

use crate::checks::{check_deliveries, check_posts, repeat};
use crate::cluster::Cluster;
use crate::connection::ApiClient;
use crate::load::{Load, Sent};
use crate::outage::remaining_units;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::stores::Postgres;
use crate::wait::wait_until;

/// Time before a primary ends, and until its standby is promoted.
const PHASE: Duration = Duration::from_secs(2);

/// Time after a promotion in which the nodes recover.
const RECOVERY: Duration = Duration::from_secs(5);

#[test]
fn nodes_continue_on_a_promoted_standby_without_a_loss() {
    run_drill(run_with_failovers);
}

async fn run_with_failovers(urls: BackendUrls) {
    let mut postgres = Postgres::new();
    let urls = BackendUrls { postgres: postgres.url.clone(), ..urls };
    let mut cluster = Cluster::new(&urls, 2, 1, &["--token-budget", "1000000"]).await;
    let receiver = Receiver::new();
    let secret = cluster.add_webhook(&receiver.url, "post.created");
    let tokens = ["alice", "bob", "carol", "mod"].map(|member| cluster.token(member));
    let idle_member = cluster.token("admin");
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));

    let load = Load::start(&cluster.nodes, &tokens);
    let mut outages = Vec::new();
    for end_primary in ["kill_primary", "stop_primary"] {
        postgres.order("add_standby");
        sleep(PHASE).await;
        let ended = Instant::now();
        postgres.order(end_primary);
        sleep(PHASE).await;
        outages.push((ended, Instant::now()));
        postgres.order("promote");
        sleep(RECOVERY).await;
        wait_until("exact budgets", async || {
            let units = remaining_units(&cluster, &mut connections, &idle_member).await;
            units.windows(2).all(|pair| pair[0].0 == pair[1].0 + 1)
        })
        .await;
    }
    let sent = load.finish().await;

    let is_expected = |failure: &Sent| {
        let mut outages = outages.iter();
        outages.any(|(ended, promoted)| (*ended..*promoted + RECOVERY).contains(&failure.ended))
    };
    let failures: Vec<_> = sent.iter().filter(|sent| sent.is_failure()).collect();
    let unexpected = failures.iter().find(|failure| !is_expected(failure));
    assert!(unexpected.is_none(), "{unexpected:?}");
    let acknowledged: Vec<_> = sent
        .iter()
        .filter(|sent| sent.acknowledged_reply().is_some())
        .map(|sent| sent.ended)
        .collect();
    for (_, promoted) in &outages {
        let later = acknowledged.iter().filter(|ended| *ended > promoted);
        let recovered = *later.min().unwrap() - *promoted;
        println!("first acknowledged write {recovered:?} after the promotion began");
        assert!(recovered < RECOVERY, "{recovered:?}");
    }

    cluster.database.end_runs().await;
    let unrecorded = repeat(&cluster.nodes, &sent).await;
    let posts = check_posts(&cluster.database, &sent).await;
    cluster.database.end_leases().await;
    check_deliveries(&receiver, &secret, &posts).await;
    println!(
        "{} requests, {} failed, {} replies acknowledged, {unrecorded} without a recorded outcome",
        sent.len(),
        failures.len(),
        acknowledged.len()
    );
    block_in_place(|| cluster.stop());
}
