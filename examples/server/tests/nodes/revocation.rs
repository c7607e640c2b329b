//! Revocations are effective on every node from the next request on.

use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest};
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::scale::Scale;

/// Number of repetitions.
const ROUNDS: usize = 3;

#[test]
fn revocations_are_effective_on_every_node_at_once() {
    run_drill(|addresses| run_revocations(addresses, Scale::new(4, 0)));
}

async fn run_revocations(addresses: BackendUrls, scale: Scale) {
    let cluster = Cluster::new(&addresses, scale, &[]).await;
    let mut connections = ApiClient::new(&cluster.nodes, Random::new(0));
    let (bob, carol) = (cluster.token("bob"), cluster.token("carol"));
    for _ in 0..ROUNDS {
        let alice = cluster.token("alice");
        assert_eq!(
            responses_of_all_nodes(&cluster, &mut connections, &alice).await,
            "200 "
        );
        cluster.run(&["token", "revoke", &alice["forum_pat_".len()..][..16]]);
        let after_revocation = responses_of_all_nodes(&cluster, &mut connections, &alice).await;
        assert_eq!(after_revocation, "401 unauthenticated");
        for (token, revoke, expected, restore) in [
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
            assert_eq!(
                responses_of_all_nodes(&cluster, &mut connections, token).await,
                "200 "
            );
            cluster.run(revoke);
            assert_eq!(
                responses_of_all_nodes(&cluster, &mut connections, token).await,
                expected
            );
            cluster.run(restore);
            assert_eq!(
                responses_of_all_nodes(&cluster, &mut connections, token).await,
                "200 "
            );
        }
    }
}

/// Returns the status and code of every node's response to this token.
async fn responses_of_all_nodes(
    cluster: &Cluster,
    connections: &mut ApiClient,
    token: &str,
) -> String {
    let mut answers = Vec::new();
    for node in cluster.nodes.addresses() {
        let reply = connections
            .send_to(node, &ApiRequest::get(token, "/forums"))
            .await
            .unwrap();
        answers.push(format!("{} {}", reply.status, reply.error_code()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}
