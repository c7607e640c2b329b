//! Errors while Postgres is unreachable.

use std::net::TcpListener;

use forum_api::host::{BackendError, BoardError};
use forum_api::model::Timestamp;
use forum_api::store::Stores;
use forum_api::store::postgres::connect;
use forum_api::token::SecretDigest;
use forum_api::webhook::DeliveryState;

use forum_test_support::postgres::{pool, schema};

use super::{Pool, tables};
use crate::fixture::lookup;

/// The error of a token look-up in a database.
async fn fault(pool: &Pool) -> String {
    let found = Stores::in_postgres(pool).tokens.find(&lookup(1)).await;
    found.unwrap_err().to_string()
}

/// A server that closed its port, one that never responds, and a pool without a free connection.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_server_is_an_error_in_time() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = |listener: &TcpListener| {
        let address = listener.local_addr().unwrap();
        connect(&format!("postgres://forum:secret@{address}/forum"), 2).unwrap()
    };
    let (nobody, silence) = (address(&closed), address(&silent));
    drop(closed);
    let refused = fault(&nobody).await;
    assert!(
        refused.contains("refused") && !refused.contains("secret"),
        "{refused}"
    );
    assert_eq!(fault(&silence).await, "timed out connecting to Postgres");
    let full = pool(&schema().await, 1);
    let _taken = full.get().await.unwrap();
    let expected = "timed out waiting for a free Postgres connection";
    assert_eq!(fault(&full).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_and_idle_transactions_have_limits() {
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
}

#[test]
fn a_malformed_address_is_an_error_in_one_line() {
    let error = connect("postgres://forum@localhost:port/forum", 2).unwrap_err();
    assert!(!error.to_string().contains('\n'), "{error}");
}

/// A stored value that is not one of its type is an error, as for a host that reads it.
#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_value_is_an_error() {
    let client = tables().await.get().await.unwrap();
    let row = client
        .query_one("SELECT 'nowhere', '\\x00'::BYTEA", &[])
        .await;
    let row = row.unwrap();
    assert!(row.try_get::<_, DeliveryState>(0).is_err());
    assert!(row.try_get::<_, Timestamp>(0).is_err());
    assert!(row.try_get::<_, SecretDigest>(1).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_one_sentence_without_values() {
    let pool = tables().await;
    let client = pool.get().await.unwrap();
    let twice = "INSERT INTO forum_api_migrations VALUES (1, '', '')";
    let error = client.execute(twice, &[]).await.unwrap_err();
    let sentence =
        "duplicate key value violates unique constraint \"forum_api_migrations_pkey\" (23505)";
    assert_eq!(BackendError::from(error).to_string(), sentence);
    let error = client.execute(twice, &[]).await.unwrap_err();
    let BoardError::Internal(source) = BoardError::from(error) else {
        panic!("another refusal");
    };
    assert_eq!(source.to_string(), sentence);
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_connections_are_replaced() {
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
}

/// Ends every connection of the pool, and waits until the pool has noticed.
async fn cut(address: &str, tables: &Pool) {
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
