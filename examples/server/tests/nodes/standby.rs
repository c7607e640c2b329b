//! The loss of the synchronous standby of Postgres: commits wait until it returns.

use serde_json::json;
use tokio::task::{JoinSet, block_in_place};

use crate::client;
use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest, Nodes};
use crate::postgres::query;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::stores::Postgres;
use crate::wait::wait_until;

/// Requests at a time: more than the server has connections.
const REQUESTS: usize = 40;

/// Returns a row for each commit that waits for a standby.
const WAITING: &str = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

#[test]
fn reads_continue_without_the_standby_and_a_server_stops() {
    run_drill(run_without_standby);
}

async fn run_without_standby(urls: BackendUrls) {
    let postgres = Postgres::new();
    let urls = BackendUrls { postgres: postgres.url.clone(), ..urls };
    let mut cluster = Cluster::new(&urls, 1, 0, &["--token-budget", "1000000"]).await;
    let token = cluster.token("alice");
    let run = |sql: &str| query(postgres.url.clone(), sql.into()).unwrap();
    let set_standby = |change: &str| {
        run(&format!("ALTER SYSTEM {change}"));
        run("SELECT pg_reload_conf()");
    };
    let lose = "SET synchronous_standby_names = 'lost'";
    let reset = "RESET synchronous_standby_names";

    for has_key in [true, false] {
        set_standby(lose);
        let mut replies = JoinSet::new();
        for number in 0..REQUESTS {
            let key = has_key.then(|| format!("key-{number}"));
            replies.spawn(reply(cluster.nodes.clone(), token.clone(), key));
        }
        let mut refused = 0;
        while refused < REQUESTS / 2 {
            let status = replies.join_next().await.unwrap().unwrap();
            refused += usize::from(status == Some(503));
        }
        assert!(!run(WAITING).is_empty());
        let mut reader = ApiClient::new(&cluster.nodes, Random::new(0));
        let page = reader.send(&ApiRequest::get(&token, "/threads/1/posts")).await.unwrap();
        assert_eq!(page.status, 200, "{page:?}");
        let node = cluster.nodes.addresses()[0];
        let health = block_in_place(|| client::get(&format!("http://{node}/health")));
        assert_eq!(health.status, 200, "{health:?}");
        set_standby(reset);
        let statuses = replies.join_all().await;
        assert!(statuses.contains(&Some(201)), "{statuses:?}");
        let expected = [Some(201), Some(503)];
        assert!(statuses.iter().all(|status| expected.contains(status)), "{statuses:?}");
    }

    set_standby(lose);
    let waiting = tokio::spawn(reply(cluster.nodes.clone(), token, None));
    wait_until("a commit that waits", async || !run(WAITING).is_empty()).await;
    block_in_place(|| cluster.servers.remove(0).stop());
    assert_eq!(waiting.await.unwrap(), None);
    set_standby(reset);
}

/// Replies in a thread. Returns the status, or `None` if the connection is closed.
async fn reply(nodes: Nodes, token: String, key: Option<String>) -> Option<u16> {
    let body = json!({ "body": "A reply" });
    let mut request = ApiRequest::new("POST", &token, "/threads/1/posts", &body);
    if let Some(key) = key {
        request = request.with_key(&key);
    }
    let response = ApiClient::new(&nodes, Random::new(0)).send(&request).await?;
    Some(response.status)
}
