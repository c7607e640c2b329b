//! Errors while Postgres is unreachable.

use std::future::pending;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::model::Timestamp;
use forum_api::store::postgres::tokio_postgres_0_7::{check_writable, connect};
use forum_api::store::postgres::{
    Parameter, PostgresDriver, PostgresError, RowReader, check_session,
};
use forum_api::store::{Stores, WebhookStores};
use forum_api::token::SecretDigest;
use forum_api::webhook::DeliveryState;

use forum_test_support::postgres::{pool, schema};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio::try_join;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::{Pool, tables};
use crate::fixture::{assert_overloaded, at, keyed_request, lookup};

/// Returns the error of a token look-up, which did not run.
async fn look_up_error(pool: &Pool) -> String {
    let token = Stores::in_postgres(pool).tokens.find(&lookup(1)).await;
    let error = token.unwrap_err();
    let text = error.to_string();
    assert_overloaded(Err::<(), _>(error), &text);
    text
}

/// Covers a closed port, a server that does not respond, and a pool without a free connection.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_server_is_an_error() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let pool_of = |listener: &TcpListener| {
        let address = listener.local_addr().unwrap();
        connect(&format!("postgres://forum:secret@{address}/forum"), 2).unwrap()
    };
    let closed_pool = pool_of(&closed);
    let silent_pool = pool_of(&silent);
    drop(closed);
    let error = look_up_error(&closed_pool).await;
    assert!(error.contains("refused"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    let error = look_up_error(&silent_pool).await;
    assert_eq!(error, "timed out connecting to Postgres");
    let full = pool(&schema().await, 1);
    let _taken = full.get().await.unwrap();
    let expected = "timed out waiting for a free Postgres connection";
    assert_eq!(look_up_error(&full).await, expected);
}

#[test]
fn a_malformed_address_is_an_error_in_one_line() {
    let error = connect("postgres://forum@localhost:port/forum", 2).unwrap_err();
    assert!(!error.to_string().contains('\n'), "{error}");
}

/// A driver of a host whose connection stops responding.
#[derive(Clone)]
struct SilentDriver;

#[async_trait]
impl PostgresDriver for SilentDriver {
    async fn query(&self, _: &str, _: &[Parameter], _: RowReader<'_>) -> Result<(), PostgresError> {
        pending().await
    }

    async fn execute(&self, _: &str, _: &[Parameter]) -> Result<u64, PostgresError> {
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_and_the_check_of_a_session_end_without_a_response() {
    let expected = "no response from Postgres";
    let limit = Duration::from_secs(60);
    let tokens = Stores::in_postgres(&SilentDriver).tokens;
    let found = timeout(limit, tokens.find(&lookup(1))).await.unwrap();
    assert_overloaded(found, expected);
    let checked = timeout(limit, check_session(&SilentDriver)).await.unwrap();
    assert_eq!(checked.unwrap_err().to_string(), expected);
}

/// A driver of 16 connections whose changes do not complete, because their commits wait for a standby.
#[derive(Clone, Default)]
struct WaitingDriver {
    /// Number of changes that were sent.
    sent: Arc<AtomicUsize>,
}

#[async_trait]
impl PostgresDriver for WaitingDriver {
    async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter],
        _: RowReader<'_>,
    ) -> Result<(), PostgresError> {
        if sql.trim_start().starts_with("SELECT") {
            return Ok(());
        }
        self.execute(sql, parameters).await.map(drop)
    }

    async fn execute(&self, _: &str, _: &[Parameter]) -> Result<u64, PostgresError> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        pending().await
    }

    fn max_connections(&self) -> Option<usize> {
        Some(16)
    }
}

/// A change whose caller is gone keeps its connection.
#[tokio::test(start_paused = true)]
async fn changes_that_do_not_complete_leave_connections_for_reads() {
    let driver = WaitingDriver::default();
    let stores = Stores::in_postgres(&driver);
    let limit = Duration::from_secs(60);
    for number in 0..4 {
        let request = keyed_request(&format!("key-{number}"));
        let begun = timeout(limit, stores.idempotency.begin(&request, at(0))).await;
        assert!(begun.is_err(), "{begun:?}");
    }
    let refused = timeout(limit, stores.idempotency.begin(&keyed_request("key"), at(0))).await;
    assert_overloaded(refused.unwrap(), "other changes wait for Postgres");
    assert_eq!(driver.sent.load(Ordering::SeqCst), 4);
    assert_eq!(stores.tokens.find(&lookup(1)).await.unwrap(), None);

    let webhooks = WebhookStores::in_postgres(&driver);
    let sweep = || timeout(limit, webhooks.deliveries().sweep(Duration::ZERO, at(0), 1));
    assert!(sweep().await.is_err());
    assert!(sweep().await.is_err());
    assert_overloaded(sweep().await.unwrap(), "other changes wait for Postgres");
    assert_eq!(driver.sent.load(Ordering::SeqCst), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_value_is_an_error() {
    let client = tables().await.get().await.unwrap();
    let query = "SELECT 'invalid', '\\x00'::BYTEA";
    let row = client.query_one(query, &[]).await.unwrap();
    assert!(row.try_get::<_, DeliveryState>(0).is_err());
    assert!(row.try_get::<_, Timestamp>(0).is_err());
    assert!(row.try_get::<_, SecretDigest>(1).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_connections_are_replaced() {
    let address = schema().await;
    let tables = pool(&address, 4);
    forum_api::store::postgres::tokio_postgres_0_7::migrate(&tables).await.unwrap();
    let tokens = Stores::in_postgres(&tables).tokens;
    for _ in 0..3 {
        let each = (0..8).map(|_| {
            let tokens = tokens.clone();
            tokio::spawn(async move { tokens.find(&lookup(1)).await })
        });
        for token in each.collect::<Vec<_>>() {
            assert_eq!(token.await.unwrap().unwrap(), None);
        }
        terminate_connections(&address, &tables).await;
    }
}

/// A migration can change the type of a column while other nodes run.
#[tokio::test(flavor = "multi_thread")]
async fn statements_are_prepared_again_after_a_change_of_a_column() {
    let address = schema().await;
    let tables = pool(&address, 2);
    forum_api::store::postgres::tokio_postgres_0_7::migrate(&tables).await.unwrap();
    let tokens = Stores::in_postgres(&tables).tokens;
    let find = async || tokens.find(&lookup(1)).await;
    let other = pool(&address, 1).get().await.unwrap();
    for label in ["VARCHAR", "TEXT"] {
        // On both connections.
        try_join!(find(), find()).unwrap();
        let change = format!("ALTER TABLE forum_api_tokens ALTER COLUMN label TYPE {label}");
        other.batch_execute(&change).await.unwrap();
        let error = look_up_error(&tables).await;
        assert!(error.contains("0A000"), "{error}");
        try_join!(find(), find()).unwrap();
        assert_eq!(tables.status().size, 2);
    }
}

/// Terminates all connections of the pool, and waits until the pool has noticed.
async fn terminate_connections(address: &str, tables: &Pool) {
    let mut clients = Vec::new();
    while clients.len() < tables.status().size {
        clients.push(tables.get().await.unwrap());
    }
    let mut pids: Vec<i32> = Vec::new();
    for client in &clients {
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await;
        pids.push(row.unwrap().get(0));
    }
    let other = pool(address, 1).get().await.unwrap();
    let terminate = "SELECT pg_terminate_backend(pid) FROM unnest($1::INTEGER[]) AS pid";
    other.query(terminate, &[&pids]).await.unwrap();
    for client in &clients {
        while !client.is_closed() {
            tokio::task::yield_now().await;
        }
    }
}

/// Closes the connection of the failed statement and the idle one.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_refuse_writes_are_closed() {
    let tables = pool(&schema().await, 2);
    forum_api::store::postgres::tokio_postgres_0_7::migrate(&tables).await.unwrap();
    let tokens = Stores::in_postgres(&tables).tokens;
    for is_store in [true, false] {
        let clients = try_join!(tables.get(), tables.get()).unwrap();
        for client in [&clients.0, &clients.1] {
            let refuse = "SET default_transaction_read_only = on";
            client.batch_execute(refuse).await.unwrap();
        }
        drop(clients);
        if is_store {
            let used = tokens.record_use(&lookup(1), at(0)).await;
            assert_overloaded(used, "cannot execute UPDATE in a read-only transaction (25006)");
        } else {
            let checked = check_writable(&tables).await;
            assert_overloaded(checked, "cannot execute INSERT in a read-only transaction (25006)");
        }
        assert_eq!(tables.status().size, 0);
    }
    check_writable(&tables).await.unwrap();
}

/// A request whose key was not reserved has not run.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_can_repeat_a_request_whose_reservation_is_cut_off() {
    let tables = tables().await;
    let mut other = tables.get().await.unwrap();
    let transaction = other.transaction().await.unwrap();
    let reserve = "
        INSERT INTO forum_api_idempotency_keys (namespace, key, request, began_at) VALUES ($1, 'key', '', 0)
        RETURNING pg_backend_pid()";
    let token = lookup(1);
    let namespace = token.as_str();
    let reserved = transaction.query_one(reserve, &[&namespace]).await;
    let holder: i32 = reserved.unwrap().get(0);
    let store = Stores::in_postgres(&tables).idempotency;
    let request = keyed_request("key");
    let reservation = tokio::spawn(async move { store.begin(&request, at(0)).await });
    let terminate = "
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
    let client = tables.get().await.unwrap();
    while client.query(terminate, &[&holder]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let reason = "terminating connection due to administrator command (57P01)";
    assert_overloaded(reservation.await.unwrap(), reason);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_does_not_respond_delays_one_connection() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dead = silent.local_addr().unwrap();
    let address = schema().await.replace('@', &format!("@{dead},{closed},"));
    let tables = pool(&format!("{address}&connect_timeout=1"), 2);
    let _first = tables.get().await.unwrap();
    let _second = tables.get().await.unwrap();
    assert!(silent.accept().is_ok());
    assert!(silent.accept().is_err(), "a second connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_hosts_must_accept_writes() {
    let address = format!("{}%20-cdefault_transaction_read_only%3Don", schema().await);
    assert!(pool(&address, 1).get().await.is_ok());
    let server = server_of(&address);
    let twice = address.replace(&server, &format!("{server},{server}"));
    let error = look_up_error(&pool(&twice, 1)).await;
    assert!(error.contains("does not allow writes"), "{error}");

    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for hosts in [format!("{closed},{server}"), format!("{server},{closed}")] {
        let error = look_up_error(&pool(&address.replace(&server, &hosts), 1)).await;
        assert!(error.contains("Connection refused"), "{hosts}: {error}");
    }
}

/// Returns the host and the port of an address.
fn server_of(address: &str) -> String {
    let config: Config = address.parse().unwrap();
    let (Some(Host::Tcp(host)), Some(port)) =
        (config.get_hosts().first(), config.get_ports().first())
    else {
        panic!("the test needs a TCP address");
    };
    format!("{host}:{port}")
}

/// Starts a proxy to `server`. After a notification by `silence`, its open connections stop responding, but stay open.
async fn start_proxy(server: String, silence: Arc<Notify>) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let server = server.clone();
            let silence = silence.clone();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(server).await.unwrap();
                tokio::select! {
                    _ = copy_bidirectional(&mut client, &mut server) => {}
                    () = silence.notified() => pending().await,
                }
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_stop_responding_are_replaced_together() {
    let address = schema().await;
    let server = server_of(&address);
    let silence = Arc::new(Notify::new());
    let proxy = start_proxy(server.clone(), silence.clone()).await;
    let behind_proxy = address.replace(&format!("@{server}/"), &format!("@{proxy}/"));
    assert_ne!(behind_proxy, address);
    let tables = pool(&behind_proxy, 4);
    forum_api::store::postgres::tokio_postgres_0_7::migrate(&tables).await.unwrap();
    let tokens = Stores::in_postgres(&tables).tokens;
    let wanted = lookup(1);
    let limit = Duration::from_secs(6);
    let find = || tokens.find(&wanted);
    assert_eq!(find().await.unwrap(), None);
    let get = || tables.get();
    drop(try_join!(get(), get(), get(), get()).unwrap());
    silence.notify_waiters();
    assert!(timeout(limit, find()).await.is_err(), "it does not respond");
    assert_eq!(timeout(limit, find()).await.unwrap().unwrap(), None);
}
