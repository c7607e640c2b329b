//! Nodes that are far from Postgres, stop or lose their link while they write: the waits of the writes of another node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::{JoinHandle, block_in_place};
use tokio::time::{Instant, sleep};

use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::link::Link;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;

/// Delay of each direction of the link between the distant node and Postgres.
const DELAY: Duration = Duration::from_millis(150);

/// Time before and after the failure.
const PHASE: Duration = Duration::from_secs(4);

/// Maximum wait of a write of the near node in the thread in which the distant node writes.
const SAME_THREAD: Duration = Duration::from_secs(2);

/// Maximum wait of such a write while nothing fails: a transaction of the distant node holds the lock for one round trip. The
/// first one of a process holds it for another round trip, in which it prepares its statements.
const WITHOUT_FAILURE: Duration = Duration::from_millis(1200);

/// Maximum wait of a write of the near node in another thread of the forum: the machine can be busy.
const OTHER_THREAD: Duration = Duration::from_secs(1);

#[test]
fn a_distant_node_delays_only_writes_in_its_thread_and_by_two_round_trips() {
    run_drill(|urls| run(urls, WITHOUT_FAILURE, |_, _| ()));
}

#[test]
fn a_stopped_node_delays_only_writes_in_its_thread_and_by_at_most_two_seconds() {
    run_drill(|urls| run(urls, SAME_THREAD, |cluster, _| cluster.servers[1].signal("STOP")));
}

#[test]
fn a_node_with_a_cut_link_delays_only_writes_in_its_thread_and_by_at_most_two_seconds() {
    run_drill(|urls| run(urls, SAME_THREAD, |_, link| link.cut()));
}

/// Four members write through a distant node in one thread, so that it holds the lock of the thread nearly all the time,
/// and two through a near node, in the same thread and in another one. `fail` runs in the middle.
async fn run(urls: BackendUrls, same_thread: Duration, fail: impl FnOnce(&Cluster, &Link)) {
    let mut cluster = Cluster::new(&urls, 1, 0, &["--token-budget", "1000000"]).await;
    let link = Link::new(cluster.postgres_address(), DELAY);
    cluster.add_server_behind(&link);
    let tokens =
        ["alice", "bob", "carol", "newbie", "mod", "admin"].map(|name| cluster.token(name));
    let [near, far] = [0, 1].map(|node| Nodes::new(&[cluster.nodes.addresses()[node]]));
    let mut paths = Vec::new();
    for _ in 0..2 {
        let new = json!({ "title": "A thread", "body": "x" });
        let start = ApiRequest::new("POST", &tokens[4], "/forums/2/threads", &new);
        let thread = ApiClient::new(&near, Random::new(0)).send(&start).await.unwrap().json();
        paths.push(format!("/threads/{}/posts", thread["threadId"].as_str().unwrap()));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let distant: Vec<_> =
        tokens[..4].iter().map(|token| write_until(&stop, &far, token, &paths[0])).collect();
    let same = write_until(&stop, &near, &tokens[4], &paths[0]);
    let other = write_until(&stop, &near, &tokens[5], &paths[1]);
    sleep(PHASE).await;
    block_in_place(|| fail(&cluster, &link));
    sleep(PHASE).await;
    stop.store(true, Ordering::SeqCst);
    let [same, other] = [same.await.unwrap(), other.await.unwrap()];
    println!("longest wait in the same thread {same:?}, in another thread {other:?}");
    assert!(same < same_thread && other < OTHER_THREAD, "{same:?}, {other:?}");
    distant.iter().for_each(JoinHandle::abort);
    drop(cluster);
}

/// Replies in a thread until `stop` is true. Returns the longest time of a reply.
fn write_until(
    stop: &Arc<AtomicBool>,
    nodes: &Nodes,
    token: &str,
    path: &str,
) -> JoinHandle<Duration> {
    let (stop, nodes) = (stop.clone(), nodes.clone());
    let reply = ApiRequest::new("POST", token, path, &json!({ "body": "A reply" }));
    tokio::spawn(async move {
        let mut client = ApiClient::new(&nodes, Random::new(0));
        let mut longest = Duration::ZERO;
        while !stop.load(Ordering::SeqCst) {
            let began = Instant::now();
            let response = client.send(&reply).await.unwrap();
            assert_eq!(response.status, 201, "{response:?}");
            longest = longest.max(began.elapsed());
        }
        longest
    })
}
