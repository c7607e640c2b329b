//! The tables, as they are made.

use forum_api::store::SchemaStatus;
use forum_api::store::postgres::deadpool_postgres::Pool;
use forum_api::store::postgres::{MIGRATE, migrate, schema_status};

use super::database::{pool, schema, try_in_postgres};
use super::tables;

#[test]
fn tables_are_made_once_however_many_nodes_start() {
    try_in_postgres(async {
        let address = schema().await;
        let nodes: Vec<_> = (0..12)
            .map(|_| {
                let pool = pool(&address, 1);
                tokio::spawn(async move { migrate(&pool).await })
            })
            .collect();
        for node in nodes {
            node.await.unwrap().unwrap();
        }
        let client = pool(&address, 1).get().await.unwrap();
        client.execute(MIGRATE, &[]).await.unwrap();
        let steps = "SELECT array_agg(step ORDER BY step) FROM forum_api_migrations";
        let steps: Vec<i32> = client.query_one(steps, &[]).await.unwrap().get(0);
        assert_eq!(steps, [1]);
    });
}

#[test]
fn newer_tables_are_refused() {
    try_in_postgres(async {
        let pool = pool(&schema().await, 1);
        let status = schema_status(&pool).await.unwrap();
        assert_eq!(status, SchemaStatus::Pending);
        migrate(&pool).await.unwrap();
        let status = schema_status(&pool).await.unwrap();
        assert_eq!(status, SchemaStatus::UpToDate);
        let later =
            "INSERT INTO forum_api_migrations SELECT max(step) + 1 FROM forum_api_migrations";
        let client = pool.get().await.unwrap();
        client.batch_execute(later).await.unwrap();
        drop(client);
        let status = schema_status(&pool).await.unwrap();
        assert_eq!(status, SchemaStatus::Newer);
        let error = migrate(&pool).await.unwrap_err().to_string();
        assert!(error.contains("newer than this program"), "{error}");
    });
}

#[test]
fn an_event_goes_with_its_last_delivery() {
    try_in_postgres(async {
        let pool = tables().await;
        let (mut one, mut other) = (pool.get().await.unwrap(), pool.get().await.unwrap());
        let rows = "
            INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at)
            VALUES ('evt_1', 'post.created', 0, '{}', 0);
            INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts)
            SELECT 'dlv_' || place, 'evt_1', 'post.created', 'whe_1', 0, 'delivered', 1
            FROM generate_series(1, 3) AS place;";
        one.batch_execute(rows).await.unwrap();
        let delete = "DELETE FROM forum_api_deliveries WHERE id = $1";
        one.execute(delete, &[&"dlv_1"]).await.unwrap();
        let events = "SELECT count(*) FROM forum_api_events";
        assert_eq!(
            one.query_one(events, &[]).await.unwrap().get::<_, i64>(0),
            1
        );

        // Each takes one of the last two before the other is done.
        let first = one.transaction().await.unwrap();
        first.execute(delete, &[&"dlv_2"]).await.unwrap();
        let second = tokio::spawn(async move {
            let second = other.transaction().await.unwrap();
            second.execute(delete, &[&"dlv_3"]).await.unwrap();
            second.commit().await.unwrap();
        });
        while waits(&pool).await == 0 {
            tokio::task::yield_now().await;
        }
        first.commit().await.unwrap();
        second.await.unwrap();
        assert_eq!(
            one.query_one(events, &[]).await.unwrap().get::<_, i64>(0),
            0
        );
    });
}

/// How many statements wait for a lock of another one's in this schema.
async fn waits(pool: &Pool) -> i64 {
    let waits = "
        SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
        WHERE relnamespace = current_schema()::regnamespace AND locktype = 'tuple'";
    let client = pool.get().await.unwrap();
    client.query_one(waits, &[]).await.unwrap().get(0)
}
