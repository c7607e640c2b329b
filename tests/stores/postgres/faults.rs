//! What becomes of a call when Postgres is away.

use std::time::{Duration, Instant};

use forum_api::host::{Fault, Refusal};
use forum_api::store::Stores;
use forum_api::store::postgres::connect;

use super::database::{pool, schema, try_in_postgres};
use super::tables;
use crate::backend::lookup;

/// What it says who asks for a token there.
async fn fault(address: &str) -> String {
    let pool = connect(address, 2).unwrap();
    let found = Stores::in_postgres(&pool).tokens.find(&lookup(1)).await;
    found.unwrap_err().to_string()
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = nobody.local_addr().unwrap().port();
    drop(nobody);
    let fault = fault(&format!("postgres://forum:secret@127.0.0.1:{port}/forum")).await;
    assert!(
        fault.contains("refused") && !fault.contains("secret"),
        "{fault}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_an_error_in_time() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let began = Instant::now();
    let fault = fault(&format!("postgres://forum:secret@127.0.0.1:{port}/forum")).await;
    assert_eq!(fault, "Postgres did not answer in time");
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn neither_a_statement_nor_a_pause_within_a_transaction_is_without_end() {
    try_in_postgres(async {
        let pool = connect(&schema().await, 1).unwrap();
        let client = pool.get().await.unwrap();
        for (bound, length) in [
            ("statement_timeout", "10s"),
            ("idle_in_transaction_session_timeout", "20s"),
        ] {
            let set = format!("SHOW {bound}");
            let set: String = client.query_one(&set, &[]).await.unwrap().get(0);
            assert_eq!(set, length, "{bound}");
        }
    });
}

#[test]
fn what_is_no_address_is_told() {
    let error = connect("postgres://forum@localhost:port/forum", 2).unwrap_err();
    assert!(!error.to_string().contains('\n'), "{error}");
}

#[test]
fn who_finds_all_connections_taken_is_told_in_time() {
    try_in_postgres(async {
        let pool = pool(&schema().await, 1);
        let _taken = pool.get().await.unwrap();
        let found = Stores::in_postgres(&pool).tokens.find(&lookup(1)).await;
        let fault = found.unwrap_err().to_string();
        assert_eq!(fault, "no connection to Postgres was free in time");
    });
}

#[test]
fn an_error_is_one_sentence_without_values() {
    try_in_postgres(async {
        let pool = tables().await;
        let client = pool.get().await.unwrap();
        let twice = "INSERT INTO forum_api_migrations VALUES (1)";
        let error = client.execute(twice, &[]).await.unwrap_err();
        let sentence =
            "duplicate key value violates unique constraint \"forum_api_migrations_pkey\" (23505)";
        assert_eq!(Fault::from(error).to_string(), sentence);
        let error = client.execute(twice, &[]).await.unwrap_err();
        let Refusal::Failed(source) = Refusal::from(error) else {
            panic!("another refusal");
        };
        assert_eq!(source.to_string(), sentence);
    });
}

#[test]
fn connections_that_were_cut_are_replaced() {
    try_in_postgres(async {
        let address = schema().await;
        let tables = pool(&address, 4);
        forum_api::store::postgres::migrate(&tables).await.unwrap();
        let tokens = Stores::in_postgres(&tables).tokens;
        for _ in 0..3 {
            let each = (0..8).map(|_| {
                let tokens = tokens.clone();
                tokio::spawn(async move { tokens.find(&lookup(1)).await })
            });
            for found in each.collect::<Vec<_>>() {
                assert_eq!(found.await.unwrap().unwrap(), None);
            }
            cut(&address, &tables).await;
        }
    });
}

/// Ends every connection that the pool has, and waits until it knows.
async fn cut(address: &str, tables: &forum_api::store::postgres::deadpool_postgres::Pool) {
    let mut clients = Vec::new();
    while clients.len() < tables.status().size {
        clients.push(tables.get().await.unwrap());
    }
    let mut pids: Vec<i32> = Vec::new();
    for client in &clients {
        pids.push(
            client
                .query_one("SELECT pg_backend_pid()", &[])
                .await
                .unwrap()
                .get(0),
        );
    }
    let other = pool(address, 1).get().await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM unnest($1::INTEGER[]) AS pid";
    other.query(cut, &[&pids]).await.unwrap();
    for client in &clients {
        while !client.is_closed() {
            tokio::task::yield_now().await;
        }
    }
}
