//! Requests per second with 1, 2 and 4 nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout_at};

use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::measurements::Samples;
use crate::processor::ProcessGroup;
use crate::random::Random;
use crate::{NODES, ROUNDS};

/// Number of concurrent clients, each with a connection to every node.
const CLIENTS: usize = 32;

/// Duration of a round.
const ROUND: Duration = Duration::from_secs(4);

type Make = fn(token: &str, thread: &str) -> ApiRequest;

/// Kinds of requests.
const KINDS: [(&str, Make); 2] = [
    ("pages of 20 posts", |token, _| {
        ApiRequest::get(token, "/threads/1/posts?limit=20")
    }),
    ("replies", |token, thread| {
        let body = json!({ "body": "A reply of some twenty words, which says that it is one. ".repeat(2) });
        ApiRequest::new("POST", token, &format!("/threads/{thread}/posts"), &body)
    }),
];

pub async fn measure(cluster: Cluster, redis: u32) {
    let tokens = tokens(&cluster);
    let threads = threads(&cluster, &cluster.token("mod")).await;
    let mut figures: BTreeMap<(usize, usize, &str), Samples> = BTreeMap::new();
    for _ in 0..ROUNDS {
        for (kind, (_, make)) in KINDS.iter().enumerate() {
            for nodes in NODES {
                let asks = tokens.iter().zip(&threads);
                let asks: Vec<_> = asks.map(|(token, thread)| make(token, thread)).collect();
                for (name, figure) in round(&cluster, nodes, redis, &asks).await {
                    figures.entry((kind, nodes, name)).or_default().add(figure);
                }
            }
        }
    }
    for (kind, (name, _)) in KINDS.iter().enumerate() {
        println!("{name}, {CLIENTS} clients (least, median, most of {ROUNDS})");
        for ((_, nodes, what), figures) in figures.range((kind, 0, "")..(kind + 1, 0, "")) {
            figures.report(&format!("{nodes} nodes, {what}"));
        }
    }
}

/// Creates a member for each client, so that clients do not wait for each other's flood limits, and returns their tokens.
fn tokens(cluster: &Cluster) -> Vec<String> {
    let tokens = (0..CLIENTS).map(|number| {
        let name = format!("client{number}");
        cluster.run(&["member", "add", &name, "--groups", "members"]);
        cluster.token(&name)
    });
    tokens.collect()
}

/// Creates a thread for each client, so that clients do not wait for each other's thread.
async fn threads(cluster: &Cluster, token: &str) -> Vec<String> {
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));
    let new = json!({ "title": "A thread of its own", "body": "For one alone." });
    let start = ApiRequest::new("POST", token, "/forums/2/threads", &new);
    let mut threads = Vec::new();
    for _ in 0..CLIENTS {
        let thread = connections.send(&start).await.unwrap().json();
        threads.push(thread["threadId"].as_str().unwrap().into());
    }
    threads
}

async fn round(
    cluster: &Cluster,
    nodes: usize,
    redis: u32,
    asks: &[ApiRequest],
) -> Vec<(&'static str, f64)> {
    let some = Nodes::new(&cluster.nodes.addresses()[..nodes]);
    // Warm-up: opens the connections and prepares the statements.
    ask_for(&some, asks, ROUND / 4).await;
    let parties = ProcessGroup::all(cluster, nodes, redis).await;
    let commits = commits(cluster).await;
    let (count, median) = ask_for(&some, asks, ROUND).await;
    let mut figures: Vec<_> = parties.iter().map(|party| party.share(count)).collect();
    figures.push(("per second", count as f64 / ROUND.as_secs_f64()));
    figures.push(("ms, median", median.as_secs_f64() * 1e3));
    figures.push((
        "transactions each",
        (self::commits(cluster).await - commits) / count as f64,
    ));
    figures
}

/// Sends requests for `time`; returns their number and their median duration.
async fn ask_for(nodes: &Nodes, asks: &[ApiRequest], time: Duration) -> (usize, Duration) {
    let end = Instant::now() + time;
    let clients = asks.iter().cloned().enumerate().map(|(number, ask)| {
        let mut connections = ApiClient::new(nodes, Random::new(number as u64));
        tokio::spawn(async move {
            let mut times = Vec::new();
            let mut since = Instant::now();
            while let Ok(reply) = timeout_at(end, connections.send(&ask)).await {
                let reply = reply.unwrap();
                assert!(reply.status < 300, "{reply:?}");
                times.push(since.elapsed());
                since = Instant::now();
            }
            times
        })
    });
    let mut times = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        times.extend(client.await.unwrap());
    }
    times.sort_unstable();
    (
        times.len(),
        times.get(times.len() / 2).copied().unwrap_or_default(),
    )
}

/// Returns the number of transactions that the database has committed.
async fn commits(cluster: &Cluster) -> f64 {
    let query = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
    cluster
        .database
        .execute("SELECT pg_stat_clear_snapshot()")
        .await;
    cluster.database.count(query).await as f64
}
