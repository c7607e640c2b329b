//! What an operator takes away is gone on every node at the very next request.

use crate::cluster::Cluster;
use crate::connection::{Ask, Connections};
use crate::prerequisites::{Addresses, drill};
use crate::random::Random;
use crate::scale::Scale;

/// How often each thing is taken away.
const ROUNDS: usize = 3;

#[test]
fn every_node_sees_at_once_what_was_taken_away() {
    drill(|addresses| taken_away(addresses, Scale::new(4, 0)));
}

async fn taken_away(addresses: Addresses, scale: Scale) {
    let cluster = Cluster::new(&addresses, scale, &[]).await;
    let mut connections = Connections::new(&cluster.nodes, Random::new(0));
    let (bob, carol) = (cluster.token("bob"), cluster.token("carol"));
    for _ in 0..ROUNDS {
        let alice = cluster.token("alice");
        assert_eq!(everywhere(&cluster, &mut connections, &alice).await, "200 ");
        cluster.command(&["token", "revoke", &alice["forum_pat_".len()..][..16]]);
        let revoked = everywhere(&cluster, &mut connections, &alice).await;
        assert_eq!(revoked, "401 unauthenticated");
        for (token, take, taken, give) in [
            (
                &bob,
                &["member", "ban", "bob"][..],
                "403 owner_unavailable",
                &["member", "unban", "bob"][..],
            ),
            (
                &carol,
                &["board", "offline"],
                "503 board_offline",
                &["board", "online"],
            ),
        ] {
            assert_eq!(everywhere(&cluster, &mut connections, token).await, "200 ");
            cluster.command(take);
            assert_eq!(everywhere(&cluster, &mut connections, token).await, taken);
            cluster.command(give);
            assert_eq!(everywhere(&cluster, &mut connections, token).await, "200 ");
        }
    }
}

/// The status and the code that every node answers this token with.
async fn everywhere(cluster: &Cluster, connections: &mut Connections, token: &str) -> String {
    let mut answers = Vec::new();
    for node in cluster.nodes.all() {
        let reply = connections
            .ask_of(node, &Ask::get(token, "/forums"))
            .await
            .unwrap();
        answers.push(format!("{} {}", reply.status, reply.code()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}
