//! Scaling over several nodes: `cargo build --release -p forum-server`, then `cargo bench -p forum-benches --bench
//! nodes`, or with `-- requests`, `-- deliveries` or `-- load` one part of it.
//!
//! Runs the real server in processes of its own, over the Postgres of `FORUM_API_POSTGRES` (`tests/postgres` starts
//! one) and a Redis of its own. Configurations take turns in three rounds, and each figure is a median; `load` runs once
//! for ten minutes on each number of nodes. All processes share one machine, so the processor time of each process per
//! request says more than the requests per second.

use forum_benches::{measurements, receiver};
use forum_test_support::{
    cluster, connection, node, postgres, prerequisites, random, redis, scale,
};

mod deliveries;
mod load;
mod processor;
mod requests;

use std::env;
use std::time::Duration;

use crate::cluster::Cluster;
use crate::measurements::is_selected;
use crate::prerequisites::BackendUrls;
use crate::scale::Scale;

/// Number of rounds.
const ROUNDS: usize = 3;

/// Numbers of nodes that are compared.
const NODES: [usize; 3] = [1, 2, 4];

#[tokio::main]
async fn main() {
    let Ok(postgres) = env::var("FORUM_API_POSTGRES") else {
        return println!("skipped: FORUM_API_POSTGRES is not set");
    };
    let redis = redis::RedisServer::new();
    let addresses = BackendUrls {
        postgres,
        redis: redis.url(),
    };
    if is_selected("requests") {
        let cluster = cluster(&addresses, 4).await;
        requests::measure(cluster, process_id(&redis)).await;
    }
    if is_selected("deliveries") {
        deliveries::measure(cluster(&addresses, 1).await).await;
    }
    if is_selected("load") {
        let cluster = cluster(&addresses, 2).await;
        load::measure(cluster, process_id(&redis)).await;
    }
}

async fn cluster(addresses: &BackendUrls, servers: usize) -> Cluster {
    let scale = Scale {
        servers,
        workers: 0,
        load_duration: Duration::ZERO,
        ends_leases_early: false,
    };
    Cluster::new(addresses, scale, &["--token-budget", "4000000000"]).await
}

fn process_id(redis: &redis::RedisServer) -> u32 {
    let info = redis.command(&["info", "server"]);
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("process_id:"));
    line.unwrap().trim().parse().unwrap()
}
