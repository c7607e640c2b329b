//! Guarantees of the tables of both SQL backends: rows that cannot be decoded, constraints, and deletions.

use std::slice;
use std::time::Duration;

use forum_api::model::{EventId, Timestamp, UserId};
use forum_api::store::sqlite::Database;
use forum_api::store::sqlite::rusqlite::Connection;
use forum_api::store::{
    ErasedMember, FeedPosition, IdempotencyStore, QueueStats, Settlement, Stores, WebhookStores,
};
use forum_api::test_util::{attempt_record, audit_entry};
use forum_api::webhook::DeliveryState;
use forum_test_support::postgres::run_with_postgres;
use forum_test_support::thread_log;
use tokio::time::timeout;

use crate::fixture::{
    LEASE, TEST_TIMEOUT, add, at, claim, claim_all, ended, endpoint, event, fan_out, file,
    hold_write, keyed_request, path, queue, temp_database,
};
use crate::postgres::{stores, tables};
use crate::sql_fixture::Sql;

macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::Sql::sqlite()).await;
            })+
        }

        mod postgres {
            $(#[test]
            fn $name() {
                super::run_with_postgres(async { super::$name(super::Sql::postgres().await).await });
            })+
        }
    };
}

on_both! {
    an_unreadable_event_is_quarantined_and_does_not_delay_others,
    a_page_of_unreadable_events_of_the_feed_has_a_next_page,
    statistics_of_deliveries_read_the_latest_ones,
    an_invalid_event_is_rejected_when_it_is_inserted,
    an_unreadable_delivery_is_not_attempted_and_does_not_delay_others,
    an_unreadable_endpoint_does_not_delay_others,
    unreadable_statistics_of_an_endpoint_do_not_hide_others,
    an_unreadable_count_of_deliveries_does_not_hide_others,
    a_long_queue_is_counted_up_to_a_bound,
    a_delivery_that_was_queued_directly_is_not_queued_again,
    an_event_is_deleted_with_its_last_delivery,
    an_erasure_finds_a_name_with_any_letters_in_the_audit_log,
    an_erasure_finds_an_owner_without_a_name_in_the_audit_log,
    an_event_that_an_erasure_removes_stays_a_position_of_the_feed,
}

async fn an_unreadable_event_is_quarantined_and_does_not_delay_others(sql: Sql) {
    let outbox = sql.webhooks().outbox();
    sql.run_unchecked(
        "INSERT INTO forum_api_events (id, topic, occurred_at, forum, body) VALUES
            ('evt_a', 'badge.v2', 0, NULL, '{}'), ('evt b', 'post.created', 1, NULL, '{}'),
            ('evt_c', 'post.created', 2, 'no forum', '{}')",
    )
    .await;
    outbox.insert(&event(1)).await.unwrap();
    thread_log::record();
    assert_eq!(outbox.pending(9).await.unwrap(), [event(1)]);
    let lines = thread_log::take();
    let line = "failed to decode row; row skipped";
    assert_eq!(lines.matches(line).count(), 3, "{lines}");
    let reason = r#"table="events" id="evt_a" reason="column topic: expected a topic, for example post.created""#;
    assert!(lines.contains("ERROR") && lines.contains(reason), "{lines}");
    assert_eq!(outbox.pending(1).await.unwrap(), [event(1)]);
    // An event that stays in the feed without a fan-out would keep all later ones.
    let quarantined = EventId::parse("evt_a").unwrap();
    assert_eq!(sql.webhooks().feed().find(&quarantined, at(0)).await.unwrap(), None);
    let quarantine = outbox.quarantined(2).await.unwrap();
    let latest: Vec<_> = quarantine.latest.iter().map(|one| (&*one.id, &*one.reason)).collect();
    let id = "expected 1 to 64 characters of A-Z, a-z, 0-9, _ and -, other than -";
    let forum = format!("column forum: {id}");
    let id = format!("column id: {id}");
    assert_eq!(quarantine.count, 3);
    assert_eq!(latest, [("evt_c", &*forum), ("evt b", &*id)]);
    sql.run_unchecked(
        "UPDATE forum_api_events SET topic = 'badge.given', quarantine_reason = NULL WHERE id = 'evt_a'",
    )
    .await;
    let mut pending = outbox.pending(9).await.unwrap().into_iter();
    assert!(pending.any(|event| event.topic.as_str() == "badge.given"));
    assert_eq!(outbox.quarantined(0).await.unwrap().count, 2);
}

async fn a_page_of_unreadable_events_of_the_feed_has_a_next_page(sql: Sql) {
    let webhooks = sql.webhooks();
    sql.run_unchecked(
        "INSERT INTO forum_api_events (id, topic, occurred_at, body) VALUES
            ('evt_a', 'badge.v2', 0, '{}'), ('evt b', 'badge.v2', 1, '{}'), ('evt c', 'badge.v2', 2, '{}')",
    )
    .await;
    webhooks.insert_event(&event(1)).await.unwrap();
    let reader = UserId::from(1);
    let feed = webhooks.feed();
    // Transactions of other tests delay the events of the feed.
    while feed.read(FeedPosition::START, &reader, 9).await.unwrap().entries.is_empty() {}
    let page = feed.read(FeedPosition::START, &reader, 2).await.unwrap();
    assert!(page.entries.is_empty());
    let position = feed.find(&page.next.unwrap(), at(0)).await.unwrap().unwrap().position;
    assert!(feed.read(position, &reader, 2).await.is_err());
    let page = feed.read(position, &reader, 3).await.unwrap();
    let ids: Vec<_> = page.entries.into_iter().map(|entry| entry.id).collect();
    assert_eq!((ids, page.next), (vec![event(1).id], None));
}

async fn statistics_of_deliveries_read_the_latest_ones(sql: Sql) {
    add(sql.webhooks(), &[endpoint(0), endpoint(1)]).await;
    sql.run_unchecked(
        "INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at)
        VALUES ('evt_1', 'post.created', 0, '{}', 0);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24000)
        INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, ended_at)
        SELECT 'dlv_' || i, 'evt_1', 'post.created', CASE WHEN i <= 2500 THEN 'whe_1' ELSE 'whe_0' END, i,
            CASE WHEN i % 4 = 0 THEN 'dead' ELSE 'delivered' END, 1, 0 FROM n
        UNION ALL
        SELECT 'dlv_' || (i + 24000), 'evt_1', 'post.created', 'whe_0', i + 24000, 'delivered', 1, 0 FROM n WHERE i <= 6000",
    )
    .await;
    let deliveries = sql.webhooks().deliveries();
    let since_1970 = at(0).saturating_duration_since(Timestamp::from_millis(0));
    let stats = deliveries.delivery_stats(since_1970, at(0)).await.unwrap();
    let mut counts: Vec<_> = stats
        .iter()
        .map(|one| (one.endpoint_id.to_string(), one.state.as_str(), one.count))
        .collect();
    counts.sort_unstable();
    let expected = [
        ("whe_0".to_owned(), "dead", 5_375),
        ("whe_0".to_owned(), "delivered", 20_000),
        ("whe_1".to_owned(), "dead", 625),
    ];
    assert_eq!(counts, expected);
    let mut stats = deliveries.endpoint_stats(since_1970, at(0)).await.unwrap();
    stats.sort_by_key(|one| one.endpoint_id.clone());
    let results: Vec<_> = stats.iter().map(|one| (one.delivered, one.failed)).collect();
    assert_eq!(results, [(1_000, 0), (750, 250)]);
}

/// Only SQLite stores a text that is not UTF-8.
#[tokio::test]
async fn an_event_with_invalid_text_is_quarantined() {
    let sql = Sql::sqlite();
    let outbox = sql.webhooks().outbox();
    let insert = "INSERT INTO forum_api_events (id, topic, occurred_at, body)
        VALUES ('evt_1', 'post.created', 3, CAST(x'7b80' AS TEXT))";
    sql.run_unchecked(insert).await;
    assert_eq!(outbox.pending(9).await.unwrap(), []);
    let quarantine = outbox.quarantined(9).await.unwrap();
    assert!(quarantine.latest[0].reason.contains("utf-8"));
}

/// In Postgres and in `Event::INSERT_SQL`, an empty forum id means that the event has no forum.
async fn an_invalid_event_is_rejected_when_it_is_inserted(sql: Sql) {
    let body = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    let largest = body(262_066);
    let too_large = body(262_145);
    for topic in ["badge.v2", "post", "post.", ".post", "post..created"] {
        let is_accepted = sql.accepts(["evt_1", topic, "0", "", "{}"]).await;
        assert!(!is_accepted, "{topic}");
    }
    for (id, topic, forum, body) in [
        ("", "post.created", "", "{}"),
        ("evt 1", "post.created", "", "{}"),
        ("evt_1", "post.created", "a b", "{}"),
        ("evt_1", "post.created", "", "[]"),
        ("evt_1", "post.created", "", "{"),
        ("evt_1", "post.created", "", &too_large),
    ] {
        let accepted = sql.accepts([id, topic, "0", forum, body]).await;
        assert!(!accepted, "{id} {topic} {forum}");
    }
    assert!(sql.accepts(["evt_1", "ping", "0", "a-B_4", &largest]).await);
    for body in ["{}", "{\"repeated\":1}"] {
        assert!(sql.accepts(["evt_2", "a_b.c.d_", "0", "", body]).await);
    }
    let pending = sql.webhooks().pending_events(9).await.unwrap();
    let event = pending.last().unwrap();
    assert_eq!((pending.len(), &*event.body), (2, "{}"));
    assert_eq!((&event.forum_id, &event.request_id), (&None, &None));
}

async fn an_unreadable_delivery_is_not_attempted_and_does_not_delay_others(sql: Sql) {
    let webhooks = sql.webhooks();
    let deliveries = webhooks.deliveries();
    add(webhooks, &[endpoint(1)]).await;
    queue(webhooks, (1..=5).map(event), &[endpoint(1)]).await;
    // Two deliveries that are due first, at an endpoint with capacity for two.
    sql.run_unchecked(
        "UPDATE forum_api_deliveries SET state = 'paused', due_at = due_at - 1 WHERE event = 'evt_1';
        UPDATE forum_api_deliveries SET topic = 'badge.v2', due_at = due_at - 1 WHERE event = 'evt_2'",
    )
    .await;
    let mut claimed = Vec::new();
    for _ in 0..3 {
        let batch = deliveries.claim(&claim(9, 2), at(0)).await.unwrap();
        if batch.deliveries.is_empty() && claimed.len() < 3 {
            assert_eq!(batch.next_due_at, Some(at(0)), "others are due at once");
        }
        let events = batch.deliveries.into_iter().map(|one| one.event.id);
        claimed.extend(events.map(|id| id.to_string()));
    }
    claimed.sort();
    assert_eq!(claimed, ["evt_3", "evt_4", "evt_5"]);
    sql.run_unchecked("UPDATE forum_api_deliveries SET state = 'queued' WHERE state = 'paused'")
        .await;
    let claims = claim_all(webhooks, at(LEASE)).await;
    assert_eq!(claims.deliveries.len(), 4, "all that can be decoded");
    let mut claimed = claims.deliveries.iter();
    assert!(claimed.all(|one| !one.previous_lease_expired));
}

/// Topics of a newer version are ignored.
async fn an_unreadable_endpoint_does_not_delay_others(sql: Sql) {
    let webhooks = sql.webhooks();
    let endpoints = [1, 2, 3].map(endpoint);
    add(webhooks, &endpoints).await;
    sql.run_unchecked(
        "UPDATE forum_api_endpoints SET topics = '[\"*\",\"badge.v2\"]' WHERE id = 'whe_2';
        UPDATE forum_api_endpoints SET topics = 'all' WHERE id = 'whe_3'",
    )
    .await;
    assert_eq!(webhooks.list_endpoints().await.unwrap(), endpoints[..2]);
    queue(webhooks, [event(1)], &endpoints).await;
    let claims = claim_all(webhooks, at(0)).await;
    assert_eq!(claims.deliveries.len(), 2);
}

async fn unreadable_statistics_of_an_endpoint_do_not_hide_others(sql: Sql) {
    let webhooks = sql.webhooks();
    add(webhooks, &[endpoint(1), endpoint(2)]).await;
    sql.run_unchecked("UPDATE forum_api_endpoints SET id = 'whe 2' WHERE id = 'whe_2'").await;
    let stats = webhooks.endpoint_stats(Duration::ZERO, at(0)).await.unwrap();
    let ids: Vec<_> = stats.into_iter().map(|one| one.endpoint_id).collect();
    assert_eq!(ids, [endpoint(1).id]);
}

async fn an_unreadable_count_of_deliveries_does_not_hide_others(sql: Sql) {
    let webhooks = sql.webhooks();
    let endpoints = [1, 2].map(endpoint);
    add(webhooks, &endpoints).await;
    queue(webhooks, [event(1)], &endpoints).await;
    sql.run_unchecked(
        "UPDATE forum_api_endpoints SET id = 'whe 2' WHERE id = 'whe_2';
        UPDATE forum_api_deliveries SET endpoint = 'whe 2' WHERE endpoint = 'whe_2'",
    )
    .await;
    let stats = webhooks.deliveries().delivery_stats(Duration::from_secs(60), at(0)).await.unwrap();
    let ids: Vec<_> = stats.into_iter().map(|one| one.endpoint_id).collect();
    assert_eq!(ids, [endpoint(1).id]);
}

async fn a_long_queue_is_counted_up_to_a_bound(sql: Sql) {
    add(sql.webhooks(), &[endpoint(0), endpoint(1)]).await;
    sql.run_unchecked(
        "INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at)
        VALUES ('evt_1', 'post.created', 0, '{}', 0);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
        INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
        SELECT 'dlv_' || i, 'evt_1', 'post.created', 'whe_' || (i % 2), 0, 'queued', 0, i FROM n",
    )
    .await;
    let stats = sql.webhooks().queue_stats(at(0)).await.unwrap();
    let oldest_due_at = stats.oldest_age.map(|age| at(0).saturating_sub(age).as_millis());
    assert_eq!((stats.depth, oldest_due_at), (QueueStats::MAX_DEPTH, Some(1)));
}

async fn a_delivery_that_was_queued_directly_is_not_queued_again(sql: Sql) {
    let webhooks = sql.webhooks();
    let endpoints = [1, 2].map(endpoint);
    add(webhooks, &endpoints).await;
    webhooks.outbox().insert(&event(1)).await.unwrap();
    let first = &endpoints[0].id;
    let deliveries = webhooks.deliveries();
    let queued = deliveries.enqueue(&event(1), first, at(0)).await.unwrap();
    assert!(queued.is_some());
    assert_eq!(deliveries.enqueue(&event(1), first, at(0)).await.unwrap(), queued);
    assert_eq!(sql.rows().await, [1, 1, 0]);
    let recipients = [fan_out(&event(1).id, &endpoints)];
    webhooks.outbox().fan_out(&recipients, at(0)).await.unwrap();
    assert_eq!(sql.rows().await, [1, 2, 0]);
}

async fn an_event_is_deleted_with_its_last_delivery(sql: Sql) {
    let webhooks = sql.webhooks();
    let endpoints = [1, 2].map(endpoint);
    add(webhooks, &endpoints).await;
    queue(webhooks, [event(0)], &[]).await;
    assert_eq!(sql.rows().await, [0, 0, 0]);
    queue(webhooks, [event(1)], &endpoints).await;
    let deliveries = webhooks.deliveries();
    let claims = claim_all(webhooks, at(0)).await;
    let delivered = ended(DeliveryState::Delivered);
    let settle = |one| Settlement::new(one, delivered, Some(attempt_record(1)), at(0));
    let settlements: Vec<_> = claims.deliveries.iter().map(settle).collect();
    let settled = deliveries.settle(&settlements, at(0)).await.unwrap();
    assert_eq!((settled.len(), sql.rows().await), (2, [1, 2, 2]));
    let first = &claims.deliveries[0].delivery.id;
    assert!(deliveries.remove(first, &audit_entry()).await.unwrap());
    assert_eq!(sql.rows().await, [1, 1, 1]);
    assert_eq!(deliveries.sweep(Duration::ZERO, at(1), 9).await.unwrap(), 1);
    assert_eq!(sql.rows().await, [0, 0, 0]);
}

async fn an_erasure_finds_a_name_with_any_letters_in_the_audit_log(sql: Sql) {
    sql.run_unchecked(
        r"INSERT INTO forum_api_audit_log (id, occurred_at, origin, action, target, details, count) VALUES
            ('aud_1', 0, 'panel', 'token.issued', 'x', 'owner Ägir; label', 1),
            ('aud_2', 0, 'panel', 'endpoint.added', 'y', 'url https://a.example/; topics *; owner Ägir', 1),
            ('aud_3', 0, 'panel', 'endpoint.added', 'z', 'owner Ägir; url https://a.example/; topics *', 1),
            ('aud_4', 0, 'panel', 'token.issued', 'u', 'owner Ägirs; label', 1),
            ('aud_5', 0, 'panel', 'token.issued', 'p', 'owner a%_\; label', 1),
            ('aud_6', 0, 'panel', 'token.issued', 'q', 'owner a%x_\; label', 1),
            ('aud_7', 0, 'panel', 'token.issued', 'r', 'owner a%x\; label', 1),
            ('aud_8', 0, 'panel', 'token.issued', 's', 'owner a b; label', 1)",
    )
    .await;
    // An entry contains a space in place of a control character.
    for name in ["Ägir", r"A%_\", "A\u{202e}b"] {
        sql.erase(ErasedMember::new(UserId::from(7), name).statements()).await;
    }
    let erased = "owner #7";
    let [longer, shorter] = [r"owner a%x_\; label", r"owner a%x\; label"];
    let expected = [erased, erased, erased, "owner Ägirs; label", erased, longer, shorter, erased];
    assert_eq!(sql.details().await, expected);
}

/// The caller of `WebhookAdmin` or `TokenAdmin` did not give the name.
async fn an_erasure_finds_an_owner_without_a_name_in_the_audit_log(sql: Sql) {
    sql.run_unchecked(
        "INSERT INTO forum_api_audit_log (id, occurred_at, origin, action, target, details, count) VALUES
            ('aud_1', 0, 'command', 'endpoint.added', 'x', 'owner #a_b; url https://a.example/; topics *', 1),
            ('aud_2', 0, 'command', 'endpoint.removed', 'x', 'url https://a.example/', 1),
            ('aud_3', 0, 'command', 'token.issued', 'y', 'owner #a_b; label', 1),
            ('aud_4', 0, 'command', 'token.issued', 'z', 'owner #A_B; label', 1),
            ('aud_5', 0, 'command', 'token.issued', 'u', 'owner #axb; label', 1),
            ('aud_6', 0, 'command', 'token.issued', 'v', 'owner a_b; label', 1)",
    )
    .await;
    sql.erase(ErasedMember::new(UserId::parse("a_b").unwrap(), "Ägir").statements()).await;
    let erased = "owner #a_b";
    let others = ["owner #A_B; label", "owner #axb; label", "owner a_b; label"];
    let expected = [erased, erased, erased, others[0], others[1], others[2]];
    assert_eq!(sql.details().await, expected);
}

async fn an_event_that_an_erasure_removes_stays_a_position_of_the_feed(sql: Sql) {
    let webhooks = sql.webhooks();
    let (outbox, feed) = (webhooks.outbox(), webhooks.feed());
    let [removed, kept] = [1, 2].map(event);
    for event in [&removed, &kept] {
        outbox.insert(event).await.unwrap();
    }
    let body = r#"{"topic":"member.rated","data":{"member":{"userId":"7","username":"x"}}}"#;
    let member = ErasedMember::new(UserId::from(7), "x");
    sql.erase(member.of_event(&removed.id.to_string(), body)).await;
    assert_eq!(outbox.pending(9).await.unwrap(), slice::from_ref(&kept));
    let bodies = feed.bodies(&[removed.id.clone(), kept.id.clone()]).await.unwrap();
    assert!(bodies.into_keys().eq([kept.id.clone()]));
    let found = feed.find(&removed.id, at(0)).await.unwrap().unwrap();
    // Transactions of other tests delay the events of the feed.
    let first_page = async {
        loop {
            let read = feed.read(found.position, &UserId::from(8), 9).await.unwrap();
            if !read.entries.is_empty() {
                return read.entries;
            }
        }
    };
    let entries = timeout(TEST_TIMEOUT, first_page).await.expect("the next event is readable");
    let ids: Vec<_> = entries.into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [kept.id]);
    let later = removed.occurred_at.saturating_add(Duration::from_secs(1));
    let sweep = async { while feed.sweep(Duration::ZERO, later, 9).await.unwrap() == 0 {} };
    timeout(TEST_TIMEOUT, sweep).await.expect("the removed event is swept");
    assert_eq!(sql.rows().await, [1, 0, 0]);
}

#[test]
fn a_file_in_utf_16_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let host = Connection::open(path(&directory)).unwrap();
    host.execute_batch("PRAGMA encoding = 'UTF-16'; CREATE TABLE board (id INTEGER)").unwrap();
    let refused = Database::open(&file(path(&directory), false)).unwrap_err().to_string();
    assert!(refused.contains("the encoding of the database is UTF-16le"), "{refused}");
    let mode: String = host.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
}

#[tokio::test]
async fn an_empty_claim_does_not_write() {
    let (directory, database) = temp_database();
    let webhooks = WebhookStores::in_sqlite(&database);
    add(&webhooks, &[endpoint(1)]).await;
    queue(&webhooks, [event(1)], &[endpoint(1)]).await;
    let another_process = hold_write(&directory);
    let batch = claim_all(&webhooks, at(-1)).await;
    drop(another_process);
    assert_eq!((batch.deliveries, batch.next_due_at), (vec![], Some(at(0))));
}

const COUNT_KEYS: &str = "SELECT count(*) FROM forum_api_idempotency_keys";

/// Reserves 20 keys, and 3 others when these have expired.
async fn reserve_keys_on_two_days(keys: &dyn IdempotencyStore) {
    for number in 0..23 {
        let now = if number < 20 { 0 } else { 86_400_000 };
        let request = keyed_request(&number.to_string());
        keys.begin(&request, at(now)).await.unwrap();
    }
}

#[tokio::test]
async fn expired_keys_are_deleted() {
    let (directory, database) = temp_database();
    reserve_keys_on_two_days(&*Stores::in_sqlite(&database).idempotency).await;
    let connection = Connection::open(path(&directory)).unwrap();
    let rows: u32 = connection.query_row(COUNT_KEYS, [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 3);
}

#[test]
fn expired_keys_are_deleted_from_postgres() {
    run_with_postgres(async {
        let pool = tables().await;
        reserve_keys_on_two_days(&*stores(&pool).idempotency).await;
        let client = pool.get().await.unwrap();
        let rows: i64 = client.query_one(COUNT_KEYS, &[]).await.unwrap().get(0);
        assert_eq!(rows, 3);
    });
}

/// A second run of the request could repeat the effect of the first one.
#[tokio::test]
async fn a_key_whose_record_cannot_be_decoded_is_not_reserved_again() {
    let (directory, database) = temp_database();
    let keys = Stores::in_sqlite(&database).idempotency;
    let request = keyed_request("k");
    keys.begin(&request, at(0)).await.unwrap();
    let connection = Connection::open(path(&directory)).unwrap();
    let change = "
        UPDATE forum_api_idempotency_keys
        SET ended = TRUE, status = 201, body = x'', forum_id = 'no forum'";
    connection.execute_batch(change).unwrap();
    for _ in 0..2 {
        let error = keys.begin(&request, at(1)).await.unwrap_err().to_string();
        assert!(error.contains("column forum_id: expected"), "{error}");
    }
}
