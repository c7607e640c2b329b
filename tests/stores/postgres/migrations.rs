//! Migrations by several nodes, and the trigger of the tables.

use std::time::{Duration, Instant};

use forum_api::store::postgres::tokio_postgres_0_7::{apply_migrations, migrate};
use forum_api::store::postgres::{self, schema_status};
use forum_api::store::{Migration, Migrations, SchemaStatus};
use forum_test_support::postgres::{pool, schema};

use super::{Pool, tables};
use crate::migrations::notes;

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_nodes_apply_each_migration_once() {
    for applied_before in [0, 1] {
        let address = schema().await;
        let node = |known| {
            let pool = pool(&address, 1);
            async move { migrate_notes(&pool, known).await }
        };
        node(applied_before).await;
        let nodes: Vec<_> = (0..12).map(|_| tokio::spawn(node(3))).collect();
        let mut applied = Vec::new();
        for node in nodes {
            applied.push(node.await.unwrap());
        }
        applied.sort_unstable();
        let mut expected = [3; 12];
        expected[0] = applied_before as u32;
        assert_eq!(applied, expected);
        let client = pool(&address, 1).get().await.unwrap();
        let select = "SELECT count(*) FROM notes";
        let count: i64 = client.query_one(select, &[]).await.unwrap().get(0);
        assert_eq!(count, 3);
    }
}

/// Applies the first migrations of the table of notes. Returns the number of migrations that were applied before.
async fn migrate_notes(pool: &Pool, known: usize) -> u32 {
    let mut client = pool.get().await.unwrap();
    let transaction = client.transaction().await.unwrap();
    let applied = apply_migrations(&*transaction, &notes(known)).await.unwrap();
    transaction.commit().await.unwrap();
    applied
}

/// The statement for any driver and the functions of the pool apply the same migrations.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_nodes_create_the_tables_through_any_driver() {
    let address = schema().await;
    let node = || {
        let pool = pool(&address, 1);
        tokio::spawn(async move { postgres::migrate(&pool).await })
    };
    for node in (0..6).map(|_| node()).collect::<Vec<_>>() {
        node.await.unwrap().unwrap();
    }
    let pool = pool(&address, 1);
    assert_eq!(schema_status(&pool).await.unwrap(), SchemaStatus::UpToDate);
    migrate(&pool).await.unwrap();
    let client = pool.get().await.unwrap();
    let later = "INSERT INTO forum_api_migrations VALUES (99, 'later', '')";
    client.batch_execute(later).await.unwrap();
    drop(client);
    let error = postgres::migrate(&pool).await.unwrap_err().to_string();
    assert!(error.contains("newer than this program"), "{error}");
}

/// Tools that empty a database, such as `migrate fresh` of sea-orm, drop its tables, and leave the functions of triggers.
#[tokio::test(flavor = "multi_thread")]
async fn tables_that_were_dropped_are_created_again() {
    let pool = pool(&schema().await, 1);
    migrate(&pool).await.unwrap();
    let client = pool.get().await.unwrap();
    let select = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()";
    for row in client.query(select, &[]).await.unwrap() {
        let drop = format!("DROP TABLE {} CASCADE", row.get::<_, &str>(0));
        client.batch_execute(&drop).await.unwrap();
    }
    drop(client);
    migrate(&pool).await.unwrap();
    assert_eq!(schema_status(&pool).await.unwrap(), SchemaStatus::UpToDate);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_or_changed_schema_is_refused() {
    let pool = pool(&schema().await, 1);
    let status = async || schema_status(&pool).await.unwrap();
    assert_eq!(status().await, SchemaStatus::Pending);
    migrate(&pool).await.unwrap();
    assert_eq!(status().await, SchemaStatus::UpToDate);
    let later = "INSERT INTO forum_api_migrations VALUES (99, 'later', '')";
    let client = pool.get().await.unwrap();
    client.batch_execute(later).await.unwrap();
    drop(client);
    assert_eq!(status().await, SchemaStatus::Newer);
    let error = migrate(&pool).await.unwrap_err().to_string();
    assert!(error.contains("newer than this program"), "{error}");

    const CHANGED: Migrations = Migrations {
        table: "forum_api_migrations",
        all: &[Migration { name: "0001_init", sql: "SELECT 'changed'" }],
    };
    let mut client = pool.get().await.unwrap();
    let transaction = client.transaction().await.unwrap();
    let error = apply_migrations(&*transaction, &CHANGED).await.unwrap_err();
    assert!(error.to_string().contains("0001_init"), "{error}");
}

/// Two transactions that delete the last two deliveries of an event also delete the event.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_deletions_delete_the_event() {
    let pool = tables().await;
    let mut one = pool.get().await.unwrap();
    let mut other = pool.get().await.unwrap();
    let rows = "
        INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at, in_feed)
        VALUES ('evt_1', 'post.created', 0, '{}', 0, FALSE);
        INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts)
        SELECT 'dlv_' || place, 'evt_1', 'post.created', 'whe_1', 0, 'delivered', 1
        FROM generate_series(1, 2) AS place;";
    one.batch_execute(rows).await.unwrap();
    let delete = "DELETE FROM forum_api_deliveries WHERE id = $1";
    let first = one.transaction().await.unwrap();
    first.execute(delete, &[&"dlv_1"]).await.unwrap();
    let second = tokio::spawn(async move {
        let second = other.transaction().await.unwrap();
        second.execute(delete, &[&"dlv_2"]).await.unwrap();
        second.commit().await.unwrap();
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    while waiting_statements(&pool).await == 0 {
        assert!(Instant::now() < deadline, "no statement waits for a lock");
        tokio::task::yield_now().await;
    }
    first.commit().await.unwrap();
    second.await.unwrap();
    let count = "SELECT count(*) FROM forum_api_events";
    let events: i64 = one.query_one(count, &[]).await.unwrap().get(0);
    assert_eq!(events, 0);
}

/// Returns the number of statements that wait for a lock in this schema.
async fn waiting_statements(pool: &Pool) -> i64 {
    let waiting = "
        SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
        WHERE relnamespace = current_schema()::regnamespace AND locktype = 'tuple'";
    let client = pool.get().await.unwrap();
    client.query_one(waiting, &[]).await.unwrap().get(0)
}
