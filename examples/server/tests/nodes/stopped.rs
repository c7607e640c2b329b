//! Nodes that are told to stop, and clients that hang up.

use std::net::TcpStream;
use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

use crate::audit;
use crate::audit::events::Told;
use crate::audit::figures::statuses;
use crate::audit::walk::{Contents, Reader};
use crate::blocked_write::BlockedWrite;
use crate::cluster::Cluster;
use crate::connection::Connections;
use crate::load::{Load, clients};
use crate::node::Node;
use crate::prerequisites::{Addresses, drill};
use crate::random::Random;
use crate::receiver::Receiver;
use crate::scale::Scale;
use crate::wait::until;

/// How long each of the load waits from one request to the next.
const PACE: Duration = Duration::from_millis(40);

/// How many deliveries somebody has on lease.
const LEASED: &str = "SELECT count(*) FROM forum_api_deliveries WHERE leased";

/// Budgets that nobody spends.
const BUDGETS: [&str; 4] = ["--token-budget", "1000000", "--guest-budget", "1000000"];

#[test]
fn nodes_are_replaced_one_by_one_under_load() {
    drill(|addresses| one_by_one(addresses, Scale::new(3, 2)));
}

#[test]
fn what_is_in_flight_is_finished() {
    drill(|addresses| in_flight(addresses, Scale::new(2, 0)));
}

#[test]
fn what_a_client_hung_up_on_is_finished() {
    drill(|addresses| hung_up(addresses, Scale::new(2, 0)));
}

/// As in an upgrade: nothing fails, all that was answered is there, and every event is sent just once.
async fn one_by_one(addresses: Addresses, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let receiver = Receiver::new();
    let secret = cluster.register(&receiver.url, "*");
    let tokens = ["alice", "bob", "mod"].map(|name| (name, cluster.token(name)));
    let (reader, address) = cluster.reader();
    let mut admin = Reader::new(address, &cluster.token("admin"));
    let before = Contents::read(&mut admin).await;
    let load = Load::start(&cluster.nodes, clients(&tokens), PACE);
    let until_then = Instant::now() + scale.load;
    for number in (0..scale.servers + scale.workers).cycle() {
        sleep(scale.load / 20).await;
        if Instant::now() > until_then {
            break;
        }
        block_in_place(|| cluster.replace(number, Node::stop));
    }
    let sent = load.finish().await;
    println!("replaced one by one: {:?}", statuses(&sent));
    assert!(statuses(&sent).keys().all(|status| *status < 500));

    block_in_place(|| cluster.stop_servers());
    let (contents, repeats) = audit::check_writes(&sent, address, &tokens, &mut admin).await;
    assert_eq!(repeats.unknown, 0, "{repeats:?}");
    let (mut got, mut told) = (Vec::new(), Told::default());
    until("every event", async || {
        got.extend(std::iter::from_fn(|| receiver.already()));
        told = Told::new(&got, &secret);
        told.is_complete(&before, &contents, &sent)
    })
    .await;
    assert_eq!(got.len(), told.len(), "each was sent once");
    block_in_place(|| cluster.stop());
    assert_eq!(cluster.database.count(LEASED).await, 0);
    block_in_place(|| reader.stop());
}

/// A node that is told to stop finishes what it has begun, takes nothing new, and ends with status 0.
async fn in_flight(addresses: Addresses, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let node = cluster.nodes.all()[0];
    let mut held = BlockedWrite::new(&cluster, "in-flight").await;
    let stopping = cluster.servers.remove(0);
    stopping.signal("TERM");
    until("it takes nothing new", async || {
        TcpStream::connect(node).is_err()
    })
    .await;
    held.let_go().await;
    assert_eq!((&mut held.sender).await.unwrap().unwrap().status, 201);
    let ended = block_in_place(|| stopping.wait());
    assert_eq!(ended.code(), Some(0));
    block_in_place(|| cluster.stop());
}

/// Whoever hangs up finds their answer under its key, on the other node.
async fn hung_up(addresses: Addresses, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let nodes = cluster.nodes.all();
    let mut held = BlockedWrite::new(&cluster, "hung-up").await;
    held.sender.abort();
    assert!((&mut held.sender).await.unwrap_err().is_cancelled());
    held.let_go().await;
    let mut connections = Connections::new(&cluster.nodes, Random::new(0));
    until("its answer", async || {
        let again = connections.ask_of(nodes[1], &held.ask).await.unwrap();
        again.is_replayed() && again.status == 201
    })
    .await;
    let mut admin = Reader::new(nodes[1], &cluster.token("admin"));
    assert_eq!(Contents::read(&mut admin).await.saying("hung-up"), 1);
    block_in_place(|| cluster.stop());
}
