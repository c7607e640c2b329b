//! Rows that cannot be decoded, such as those of a newer version, delay no others.

use std::collections::BTreeSet;

use forum_api::store::Backlog;
use forum_api::store::postgres::deadpool_postgres::Pool;

use super::database::try_in_postgres;
use super::{add, endpoint, event, queue, room, tables, webhooks};
use crate::backend::at;

async fn run(pool: &Pool, sql: &str) {
    let client = pool.get().await.unwrap();
    client.batch_execute(sql).await.unwrap();
}

/// Takes the constraints of the events away, as a damaged or later database may lack them.
const UNCHECKED: &str = "
    DO $$
    DECLARE name TEXT;
    BEGIN
        FOR name IN SELECT conname FROM pg_constraint
            WHERE conrelid = 'forum_api_events'::regclass AND contype = 'c'
        LOOP
            EXECUTE format('ALTER TABLE forum_api_events DROP CONSTRAINT %I', name);
        END LOOP;
    END
    $$";

#[test]
fn an_unreadable_event_is_quarantined_and_delays_no_other() {
    try_in_postgres(async {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        run(&pool, UNCHECKED).await;
        run(
            &pool,
            "INSERT INTO forum_api_events (id, topic, occurred_at, forum, body) VALUES
                ('evt_a', 'badge.v2', 0, NULL, '{}'), ('evt b', 'post.created', 1, NULL, '{}'),
                ('evt_c', 'post.created', 2, 'no forum', '{}')",
        )
        .await;
        webhooks.outbox.put(&event(1)).await.unwrap();
        assert_eq!(webhooks.outbox.waiting(9).await.unwrap(), [event(1)]);
        assert_eq!(webhooks.outbox.waiting(1).await.unwrap(), [event(1)]);
        let quarantine = webhooks.outbox.quarantined(2).await.unwrap();
        let latest: Vec<_> = quarantine.latest.iter().collect();
        let latest: Vec<_> = latest.iter().map(|one| (&*one.id, &*one.reason)).collect();
        let expected = [
            ("evt_c", "the forum is malformed"),
            ("evt b", "the id is malformed"),
        ];
        assert_eq!((quarantine.count, latest.as_slice()), (3, &expected[..]));
        let repair = "UPDATE forum_api_events SET topic = 'badge.given', quarantine_reason = NULL WHERE id = 'evt_a'";
        run(&pool, repair).await;
        let waiting = webhooks.outbox.waiting(9).await.unwrap();
        let topics: Vec<_> = waiting.iter().map(|event| event.topic.as_str()).collect();
        assert!(topics.contains(&"badge.given"), "{topics:?}");
        assert_eq!(webhooks.outbox.quarantined(0).await.unwrap().count, 2);
    });
}

#[test]
fn a_bad_event_is_refused_when_it_is_inserted() {
    try_in_postgres(async {
        let pool = tables().await;
        let client = pool.get().await.unwrap();
        for (id, topic, forum, body) in [
            ("", "post.created", "NULL", "'{}'"),
            ("evt 1", "post.created", "NULL", "'{}'"),
            ("evt_1", "badge.v2", "NULL", "'{}'"),
            ("evt_1", "post", "NULL", "'{}'"),
            ("evt_1", "post.", "NULL", "'{}'"),
            ("evt_1", ".post", "NULL", "'{}'"),
            ("evt_1", "post..created", "NULL", "'{}'"),
            ("evt_1", "post.created", "''", "'{}'"),
            ("evt_1", "post.created", "NULL", "'[]'"),
            ("evt_1", "post.created", "NULL", "'{'"),
            (
                "evt_1",
                "post.created",
                "NULL",
                "'{\"a\":\"' || repeat('x', 262144) || '\"}'",
            ),
        ] {
            let insert = format!(
                "INSERT INTO forum_api_events (id, topic, occurred_at, forum, body)
                VALUES ('{id}', '{topic}', 0, {forum}, {body})"
            );
            assert!(client.execute(&insert, &[]).await.is_err(), "{insert}");
        }
        let ping = "INSERT INTO forum_api_events (id, topic, occurred_at, body)
            VALUES ('evt_1', 'ping', 0, '{\"a\":\"' || repeat('x', 262135) || '\"}')";
        client.execute(ping, &[]).await.unwrap();
    });
}

#[test]
fn an_unreadable_delivery_strands_no_other_and_is_not_attempted() {
    try_in_postgres(async {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        let deliveries = &webhooks.deliveries;
        add(&webhooks, &[endpoint(1), endpoint(2)]).await;
        queue(&webhooks, (1..=5).map(event), &[endpoint(1), endpoint(2)]).await;
        // Two that are due first, at the endpoint with two free places.
        run(
            &pool,
            "UPDATE forum_api_deliveries SET state = 'paused', due_at = due_at - 1
            WHERE endpoint = 'whe_1' AND event = 'evt_1';
            UPDATE forum_api_deliveries SET topic = 'badge.v2', due_at = due_at - 1
            WHERE endpoint = 'whe_1' AND event = 'evt_2';
            UPDATE forum_api_endpoints SET topics = '[\"badge.v2\",\"*\"]' WHERE id = 'whe_2'",
        )
        .await;
        let mut taken = BTreeSet::new();
        for round in 0..8 {
            let claims = deliveries.claim(&room(99, 2), at(0)).await.unwrap();
            assert!(
                round > 0 || claims.next == Some(at(0)),
                "more is due at once"
            );
            for claimed in claims.taken {
                taken.insert(claimed.delivery.id.to_string());
            }
        }
        assert_eq!(taken.len(), 8, "all that can be read were claimed");
        let waits = "
            SELECT count(*) FROM forum_api_deliveries
            WHERE (state = 'paused' OR topic = 'badge.v2') AND attempts = 0 AND NOT sending AND due_at = $1";
        let client = pool.get().await.unwrap();
        let waits = client.query_one(waits, &[&at(60_000)]).await.unwrap();
        assert_eq!(
            waits.get::<_, i64>(0),
            2,
            "the others wait for the end of a lease"
        );
        let repair = "UPDATE forum_api_deliveries SET state = 'queued' WHERE state = 'paused'";
        client.batch_execute(repair).await.unwrap();
        let claims = deliveries.claim(&room(99, 99), at(60_000)).await.unwrap();
        assert_eq!(claims.taken.len(), 9);
        assert!(claims.taken.iter().all(|one| !one.lease_expired));
    });
}

#[test]
fn a_long_queue_is_counted_up_to_a_bound() {
    try_in_postgres(async {
        let pool = tables().await;
        let webhooks = webhooks(&pool);
        add(&webhooks, &[endpoint(1), endpoint(2)]).await;
        run(
            &pool,
            "INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at)
            VALUES ('evt_1', 'post.created', 0, '{}', 0);
            INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
            SELECT 'dlv_' || number, 'evt_1', 'post.created', 'whe_' || number % 2 + 1, 0, 'queued', 0, number
            FROM generate_series(1, 12000) AS number",
        )
        .await;
        let backlog = webhooks.deliveries.backlog(at(0)).await.unwrap();
        assert_eq!(backlog.depth, Backlog::MAX_DEPTH);
        assert_eq!(backlog.since.map(|since| since.as_millis()), Some(1));
    });
}
