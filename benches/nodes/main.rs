//! What more nodes bring: `cargo build --release -p forum-server`, then `cargo bench -p forum-benches --bench nodes`, or with
//! `-- requests` (`deliveries`) a part of it.
//!
//! The real server runs in processes of its own, over the Postgres that `FORUM_API_POSTGRES` names (`tests/postgres`
//! starts one) and a Redis of the measurement's own. What is compared takes turns, in three rounds, and each figure is
//! the median of them. All share one machine: so what a request takes of a processor, and whose, tells more than how
//! many there were in a second.

use forum_benches::{measurements, receiver};
use forum_test_support::{
    cluster, connection, database, node, prerequisites, random, redis, scale,
};

mod deliveries;
mod processor;
mod requests;

use std::env;
use std::time::Duration;

use crate::cluster::Cluster;
use crate::measurements::is_wanted;
use crate::prerequisites::Addresses;
use crate::scale::Scale;

/// How often each thing is measured.
const ROUNDS: usize = 3;

/// With how many nodes.
const NODES: [usize; 3] = [1, 2, 4];

#[tokio::main]
async fn main() {
    let Ok(postgres) = env::var("FORUM_API_POSTGRES") else {
        return println!("left out: FORUM_API_POSTGRES names none");
    };
    let redis = redis::Server::new();
    let addresses = Addresses {
        postgres,
        redis: redis.url(),
    };
    if is_wanted("requests") {
        let id = redis.command(&["info", "server"]);
        requests::measure(cluster(&addresses, 4).await, process_id(&id)).await;
    }
    if is_wanted("deliveries") {
        deliveries::measure(cluster(&addresses, 1).await).await;
    }
}

async fn cluster(addresses: &Addresses, servers: usize) -> Cluster {
    let scale = Scale {
        servers,
        workers: 0,
        load: Duration::ZERO,
        hurries: false,
    };
    Cluster::new(addresses, scale, &["--token-budget", "4000000000"]).await
}

fn process_id(info: &str) -> u32 {
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("process_id:"));
    line.unwrap().trim().parse().unwrap()
}
