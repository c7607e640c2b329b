//! Nodes that start together on a new database, and nodes that run during a migration.

use std::collections::BTreeSet;
use std::time::Duration;

use tempfile::TempDir;
use tokio::task::{block_in_place, spawn_blocking};
use tokio::time::{Instant, sleep};

use crate::audit::figures::statuses;
use crate::cluster::Cluster;
use crate::load::{Client, KINDS, Load, clients};
use crate::node::Node;
use crate::postgres::Database;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::receiver::Receiver;
use crate::scale::Scale;
use crate::wait::wait_until;
use crate::worker_activity::check_delivery;

/// Number of nodes that start together.
const NODES: usize = 4;

/// Time between two requests of a client.
const CLIENT_INTERVAL: Duration = Duration::from_millis(40);

/// Migration of a later version: it only adds. Each statement changes one table, so that it cannot deadlock with
/// writes.
const LATER: &str = "
    ALTER TABLE forum_api_tokens ADD COLUMN later TEXT;
    ALTER TABLE forum_api_idempotency_keys ADD COLUMN later TEXT;
    ALTER TABLE forum_api_events ADD COLUMN later TEXT;
    ALTER TABLE forum_api_endpoints ADD COLUMN later TEXT NOT NULL DEFAULT 'later';
    ALTER TABLE forum_api_deliveries ADD COLUMN later BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE forum_api_attempts ADD COLUMN later TEXT;
    INSERT INTO forum_api_migrations SELECT max(step) + 1, 'later', '' FROM forum_api_migrations;
    ALTER TABLE member ADD COLUMN later TEXT;
    ALTER TABLE forum ADD COLUMN later TEXT;
    ALTER TABLE thread ADD COLUMN later BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE post ADD COLUMN later TEXT;
    ALTER TABLE poll ADD COLUMN later TEXT;
    ALTER TABLE subscription ADD COLUMN later TEXT;
    ALTER TABLE message ADD COLUMN later TEXT;
    INSERT INTO board_migrations SELECT max(step) + 1, 'later', '' FROM board_migrations";

#[test]
fn nodes_that_start_together_create_one_board() {
    run_drill(start_together);
}

#[test]
fn nodes_keep_running_during_an_upgrade() {
    run_drill(|addresses| upgrade(addresses, Scale::new(2, 1)));
}

async fn start_together(addresses: BackendUrls) {
    let (database, directory) = (
        Database::in_server(&addresses.postgres),
        TempDir::new().unwrap(),
    );
    let starting = (0..NODES).map(|number| {
        let (url, log) = (database.url(), directory.path().join(number.to_string()));
        spawn_blocking(move || Node::serve(&log, &["--database", &url]))
    });
    let (mut nodes, mut passwords) = (Vec::new(), BTreeSet::new());
    for node in starting.collect::<Vec<_>>() {
        let (node, startup_info) = node.await.unwrap();
        passwords.extend(startup_info["password"].as_str().map(str::to_owned));
        nodes.push(node);
    }
    assert_eq!(passwords.len(), 1, "one node created the board");
    let admins = "SELECT count(*) FROM member WHERE username = 'admin'";
    assert_eq!(database.count(admins).await, 1);
    block_in_place(|| nodes.into_iter().for_each(Node::stop));
}

async fn upgrade(addresses: BackendUrls, scale: Scale) {
    let budgets = ["--token-budget", "1000000", "--guest-budget", "1000000"];
    let mut cluster = Cluster::new(&addresses, scale, &budgets).await;
    let tokens = ["alice", "carol", "mod"].map(|name| (name, cluster.token(name)));
    let bob = Client::member(50, "bob", &cluster.token("bob"));
    let receiver = Receiver::new();
    cluster.add_webhook(&receiver.url, "*");
    let load = Load::start(&cluster.nodes, clients(&tokens), CLIENT_INTERVAL);
    sleep(scale.load_duration / 4).await;
    for statement in LATER.split(';') {
        cluster.database.execute(statement).await;
    }
    let later = Instant::now();
    call_every_endpoint(bob, &cluster).await;
    sleep(scale.load_duration / 4).await;
    let sent = load.finish().await;
    let after = sent.iter().filter(|sent| sent.at > later);
    let counts = statuses(after);
    println!("beside a later version: {counts:?}");
    assert!(counts.keys().all(|status| (200..500).contains(status)));
    check_delivery(
        &cluster.nodes,
        &receiver,
        &tokens[0].1,
        "DeliveredEvents as before.",
    )
    .await;
    block_in_place(|| cluster.stop());
}

/// Calls every endpoint repeatedly until each has succeeded.
async fn call_every_endpoint(mut client: Client, cluster: &Cluster) {
    let mut connections = client.connections(&cluster.nodes);
    let mut missing: BTreeSet<_> = KINDS.iter().map(|kind| kind.name).collect();
    wait_until("every endpoint to succeed", async || {
        for kind in KINDS {
            if let Some(sent) = client.send(kind, &mut connections).await {
                let answer = sent.response().unwrap();
                assert!(answer.status < 500, "{sent:?}");
                if sent.is_done() {
                    missing.remove(kind.name);
                }
            }
        }
        missing.is_empty()
    })
    .await;
}
