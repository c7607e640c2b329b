//! Nodes behind PgBouncer.

use tokio::task::block_in_place;

use crate::killed::run_with_kills;
use crate::node::Node;
use crate::postgres::Database;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::program::{ServerDirectory, run};
use crate::stores::Postgres;

#[test]
fn killed_nodes_behind_a_pooler_lose_and_repeat_no_write() {
    run_drill(run_behind_poolers);
}

async fn run_behind_poolers(urls: BackendUrls) {
    let mut postgres = Postgres::new();
    postgres.order("add_replica first");
    for server in ["data", "first"] {
        postgres.order(&format!("pool {server} transaction 5 100"));
    }
    let urls = BackendUrls {
        postgres: postgres.poolers[0].clone(),
        replicas: vec![postgres.poolers[1].clone()],
        ..urls
    };
    let metrics = run_with_kills(urls, 2, 2).await;
    let is_read = |line: &str| line.starts_with("forum_server_reads_total{target=\"replica\"}");
    assert!(metrics.lines().any(is_read), "{metrics}");
}

#[test]
fn a_pooler_that_cannot_work_is_refused() {
    run_drill(|_| run_with_refusals());
}

async fn run_with_refusals() {
    let mut postgres = Postgres::new();
    let database = Database::in_server(&postgres.url);
    let pooled = database.url_in(&postgres.poolers[0]);
    let directory = ServerDirectory::in_sqlite();
    let log = directory.path().join("log");
    let serve = |url: &str| block_in_place(|| Node::serve(&log, &["--database", url]).0.stop());
    serve(&database.url());
    let mut order_pool = |database: &Database, default: &str, pool: &str| {
        block_in_place(|| ["RESET ALL", default].map(|change| database.alter(change)));
        postgres.order(&format!("pool data {pool}"));
    };
    for (default, pool, reason) in [
        ("RESET ALL", "session 3 0", "pool_size"),
        ("RESET ALL", "transaction 5 0", "max_prepared_statements"),
        (
            "SET default_transaction_isolation = serializable",
            "transaction 5 100",
            "default default_transaction_isolation = serializable",
        ),
        ("SET lock_timeout = 500", "transaction 5 100", "default lock_timeout = 500"),
    ] {
        order_pool(&database, default, pool);
        for command in [&["--listen", "127.0.0.1:0"][..], &["worker"], &["setting", "list"]] {
            let arguments = [command, &["--database", &pooled]].concat();
            let refused = block_in_place(|| run(directory.path(), &arguments, ""));
            refused.assert_error(reason);
        }
    }
    order_pool(&database, "SET default_transaction_isolation = serializable", "session 16 0");
    serve(&pooled);
}
