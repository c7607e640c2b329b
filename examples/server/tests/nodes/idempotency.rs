//! One `Idempotency-Key` on two nodes.

use crate::audit::walk::{Contents, Reader};
use crate::blocked_write::{BlockedWrite, reply};
use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiResponse};
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::scale::Scale;

/// Number of keys that are sent to both nodes.
const ROUNDS: usize = 100;

#[test]
fn concurrent_requests_with_one_key_run_once() {
    run_drill(|addresses| concurrently(addresses, Scale::new(2, 0)));
}

#[test]
fn the_outcome_on_a_killed_node_is_unknown() {
    run_drill(|addresses| killed_meanwhile(addresses, Scale::new(2, 0)));
}

async fn concurrently(addresses: BackendUrls, scale: Scale) {
    let cluster = Cluster::new(&addresses, scale, &["--token-budget", "1000000"]).await;
    let (alice, admin) = (cluster.token("alice"), cluster.token("admin"));
    let connections = |seed| ApiClient::new(&cluster.nodes, Random::new(seed));
    let (mut one, mut other) = (connections(1), connections(2));
    let nodes = cluster.nodes.addresses();
    let mut waited = 0;
    for round in 0..ROUNDS {
        let request = reply(&alice, &format!("round-{round}"));
        let both = tokio::join!(
            one.send_to(nodes[0], &request),
            other.send_to(nodes[1], &request)
        );
        let both = [both.0.unwrap(), both.1.unwrap()];
        let mut firsts = both
            .iter()
            .filter(|reply| reply.status == 201 && !reply.is_replayed());
        let (first, more) = (firsts.next().unwrap(), firsts.next());
        assert!(more.is_none(), "{both:?}");
        waited += both.iter().filter(|reply| reply.status == 409).count();
        let is_right = |reply: &&ApiResponse| match reply.status {
            201 => reply.body == first.body,
            409 => {
                reply.error_code() == "CONFLICT" && reply.header_number("retry-after") == Some(1)
            }
            _ => false,
        };
        assert!(both.iter().all(|reply| is_right(&reply)), "{both:?}");
        let again = one.send_to(nodes[1], &request).await.unwrap();
        assert!(again.is_replayed() && again.body == first.body, "{again:?}");
    }
    let contents = Contents::read(&mut Reader::new(nodes[0], &admin)).await;
    for round in 0..ROUNDS {
        assert_eq!(contents.count_with_body(&format!("round-{round}")), 1);
    }
    println!(
        "{ROUNDS} keys on two nodes at once: each ran once; {waited} requests got 409 meanwhile"
    );
}

async fn killed_meanwhile(addresses: BackendUrls, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &[]).await;
    let (admin, nodes) = (cluster.token("admin"), cluster.nodes.addresses());
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));
    let mut held = BlockedWrite::new(&cluster, "in-between").await;
    cluster.servers.remove(0).kill();
    held.release().await;
    assert!((&mut held.sender).await.unwrap().is_none());
    let running = connections.send_to(nodes[1], &held.request).await.unwrap();
    let answer = |reply: &ApiResponse| {
        (
            reply.status,
            reply.error_code(),
            reply.header_number("retry-after"),
        )
    };
    assert_eq!(answer(&running), (409, "CONFLICT".into(), Some(1)));
    cluster.database.end_runs().await;
    for _ in 0..3 {
        let unknown = connections.send_to(nodes[1], &held.request).await.unwrap();
        assert_eq!(answer(&unknown), (409, "CONFLICT".into(), None));
        assert!(!unknown.is_replayed());
    }
    let contents = Contents::read(&mut Reader::new(nodes[1], &admin)).await;
    assert!(contents.count_with_body("in-between") <= 1);
}
