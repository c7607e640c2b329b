//! Shutdown of nodes, and clients that disconnect.

use std::net::TcpStream;
use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

use crate::audit;
use crate::audit::events::DeliveredEvents;
use crate::audit::figures::statuses;
use crate::audit::walk::{Contents, Reader};
use crate::blocked_write::BlockedWrite;
use crate::cluster::Cluster;
use crate::connection::ApiClient;
use crate::load::{Load, clients};
use crate::node::Node;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::scale::Scale;
use crate::wait::wait_until;

/// Time between two requests of a client.
const CLIENT_INTERVAL: Duration = Duration::from_millis(40);

/// Number of leased deliveries.
const LEASED: &str = "SELECT count(*) FROM forum_api_deliveries WHERE leased";

/// Budgets that are never used up.
const BUDGETS: [&str; 4] = ["--token-budget", "1000000", "--guest-budget", "1000000"];

#[test]
fn a_rolling_restart_under_load_fails_no_request() {
    run_drill(|addresses| rolling_restart(addresses, Scale::new(3, 2)));
}

#[test]
fn requests_in_flight_complete_at_shutdown() {
    run_drill(|addresses| shutdown_with_request(addresses, Scale::new(2, 0)));
}

#[test]
fn a_request_completes_after_its_client_disconnects() {
    run_drill(|addresses| disconnect(addresses, Scale::new(2, 0)));
}

/// A rolling restart: no request fails, acknowledged writes exist, and each event is sent once.
async fn rolling_restart(addresses: BackendUrls, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let receiver = Receiver::new();
    let secret = cluster.add_webhook(&receiver.url, "*");
    let tokens = ["alice", "bob", "mod"].map(|name| (name, cluster.token(name)));
    let (reader, address) = cluster.start_reader();
    let mut admin = Reader::new(address, &cluster.token("admin"));
    let before = Contents::read(&mut admin).await;
    let load = Load::start(&cluster.nodes, clients(&tokens), CLIENT_INTERVAL);
    let end = Instant::now() + scale.load_duration;
    for number in (0..scale.servers + scale.workers).cycle() {
        sleep(scale.load_duration / 20).await;
        if Instant::now() > end {
            break;
        }
        block_in_place(|| cluster.replace(number, Node::stop));
    }
    let sent = load.finish().await;
    println!("rolling restart: {:?}", statuses(&sent));
    assert!(statuses(&sent).keys().all(|status| *status < 500));

    block_in_place(|| cluster.stop_servers());
    let (contents, repeats) = audit::check_writes(&sent, address, &tokens, &mut admin).await;
    assert_eq!(repeats.unknown, 0, "{repeats:?}");
    let (mut received, mut delivered) = (Vec::new(), DeliveredEvents::default());
    wait_until("all events", async || {
        received.extend(std::iter::from_fn(|| receiver.try_next()));
        delivered = DeliveredEvents::new(&received, &secret);
        delivered.is_complete(&before, &contents, &sent)
    })
    .await;
    assert_eq!(received.len(), delivered.len(), "each was sent once");
    block_in_place(|| cluster.stop());
    assert_eq!(cluster.database.count(LEASED).await, 0);
    block_in_place(|| reader.stop());
}

/// A node that receives SIGTERM completes requests in flight, accepts no new ones, and exits with status 0.
async fn shutdown_with_request(addresses: BackendUrls, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let node = cluster.nodes.addresses()[0];
    let mut blocked = BlockedWrite::new(&cluster, "in-flight").await;
    let stopping = cluster.servers.remove(0);
    stopping.signal("TERM");
    wait_until("the node to stop accepting connections", async || {
        TcpStream::connect(node).is_err()
    })
    .await;
    blocked.release().await;
    assert_eq!((&mut blocked.sender).await.unwrap().unwrap().status, 201);
    let ended = block_in_place(|| stopping.wait());
    assert_eq!(ended.code(), Some(0));
    block_in_place(|| cluster.stop());
}

/// A client that disconnects gets the response under its key from the other node.
async fn disconnect(addresses: BackendUrls, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let nodes = cluster.nodes.addresses();
    let mut blocked = BlockedWrite::new(&cluster, "disconnect").await;
    blocked.sender.abort();
    assert!((&mut blocked.sender).await.unwrap_err().is_cancelled());
    blocked.release().await;
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));
    wait_until("the replay of the response", async || {
        let again = connections
            .send_to(nodes[1], &blocked.request)
            .await
            .unwrap();
        again.is_replayed() && again.status == 201
    })
    .await;
    let mut admin = Reader::new(nodes[1], &cluster.token("admin"));
    assert_eq!(
        Contents::read(&mut admin)
            .await
            .count_with_body("disconnect"),
        1
    );
    block_in_place(|| cluster.stop());
}
