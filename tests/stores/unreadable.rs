//! Rows in SQLite that cannot be decoded, such as those of a newer version, delay no others.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use forum_api::model::EndpointId;
use forum_api::store::sqlite::rusqlite::Connection;
use forum_api::store::{Backlog, Claim, Webhooks};
use forum_api::webhook::Endpoint;

use crate::backend::{at, open, path};
use crate::webhooks::{LEASE, claim, deliver, endpoint, event};

/// Collects log lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn subscriber(&self) -> impl tracing::Subscriber + use<> {
        let lines = self.clone();
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || lines.clone())
            .finish()
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs statements in the file of `directory`, on a connection that checks no constraint.
fn run_unchecked(directory: &tempfile::TempDir, sql: &str) {
    let connection = Connection::open(path(directory)).unwrap();
    connection
        .execute_batch("PRAGMA ignore_check_constraints = ON")
        .unwrap();
    connection.execute_batch(sql).unwrap();
}

#[tokio::test]
async fn an_unreadable_event_is_quarantined_and_delays_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let outbox = Webhooks::in_sqlite(&open(&directory)).outbox;
    run_unchecked(
        &directory,
        "INSERT INTO forum_api_events (id, topic, occurred_at, forum, body) VALUES
            ('evt_a', 'badge.v2', 0, NULL, '{}'), ('evt b', 'post.created', 1, NULL, '{}'),
            ('evt_c', 'post.created', 2, '', '{}'),
            ('evt_d', 'post.created', 3, NULL, CAST(x'7b80' AS TEXT))",
    );
    outbox.put(&event("evt_1")).await.unwrap();
    let log = Lines::default();
    let guard = tracing::subscriber::set_default(log.subscriber());
    assert_eq!(outbox.waiting(9).await.unwrap(), [event("evt_1")]);
    drop(guard);
    let line = "a row cannot be decoded and is set aside";
    let lines = log.text();
    assert_eq!(lines.matches(line).count(), 4, "{lines}");
    let topic = r#"table="events" id="evt_a" reason="the topic is malformed""#;
    assert!(lines.contains("ERROR") && lines.contains(topic), "{lines}");
    assert_eq!(outbox.waiting(1).await.unwrap(), [event("evt_1")]);
    let quarantine = outbox.quarantined(9).await.unwrap();
    assert_eq!(quarantine.count, 4);
    let latest = quarantine.latest.iter();
    let latest: Vec<_> = latest.map(|one| (&*one.id, &*one.reason)).collect();
    let expected = [
        ("evt_c", "the forum is malformed"),
        ("evt b", "the id is malformed"),
        ("evt_a", "the topic is malformed"),
    ];
    assert_eq!(latest[1..], expected);
    assert!(latest[0].1.contains("utf-8"), "{latest:?}");
    let repair = "UPDATE forum_api_events SET topic = 'badge.given', quarantine_reason = NULL WHERE id = 'evt_a'";
    run_unchecked(&directory, repair);
    let waiting = outbox.waiting(9).await.unwrap();
    let topics: Vec<_> = waiting.iter().map(|event| event.topic.as_str()).collect();
    assert!(topics.contains(&"badge.given"), "{topics:?}");
    assert_eq!(outbox.quarantined(0).await.unwrap().count, 3);
}

#[tokio::test]
async fn a_bad_event_is_refused_when_it_is_inserted() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(&directory));
    let host = Connection::open(path(&directory)).unwrap();
    let body = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    let insert = |id: &str, topic: &str, forum: Option<&str>, body: &str| {
        let insert = "INSERT INTO forum_api_events (id, topic, occurred_at, forum, body) VALUES (?1, ?2, 0, ?3, ?4)";
        host.execute(insert, (id, topic, forum, body))
    };
    for (id, topic, forum, body) in [
        ("", "post.created", None, "{}"),
        ("evt 1", "post.created", None, "{}"),
        ("evt_1", "badge.v2", None, "{}"),
        ("evt_1", "post", None, "{}"),
        ("evt_1", "post.", None, "{}"),
        ("evt_1", ".post", None, "{}"),
        ("evt_1", "post..created", None, "{}"),
        ("evt_1", "post.created", Some(""), "{}"),
        ("evt_1", "post.created", Some("a b"), "{}"),
        ("evt_1", "post.created", None, "[]"),
        ("evt_1", "post.created", None, "{"),
        ("evt_1", "post.created", None, &body(262_145)),
    ] {
        let refused = insert(id, topic, forum, body);
        assert!(refused.is_err(), "{id} {topic} {forum:?}");
    }
    insert("evt_1", "ping", Some("a-B_4"), &body(262_144)).unwrap();
    insert("evt_2", "a_b.c.d_", None, "{}").unwrap();
}

#[tokio::test]
async fn an_unreadable_delivery_strands_no_other_and_is_not_attempted() {
    let directory = tempfile::tempdir().unwrap();
    let webhooks = Webhooks::in_sqlite(&open(&directory));
    let deliveries = &webhooks.deliveries;
    webhooks.endpoints.add(&endpoint()).await.unwrap();
    for number in 1..=5 {
        deliver(&webhooks, &event(&format!("evt_{number}")), &[endpoint()]).await;
    }
    // Two that are due first, at an endpoint with two free places.
    run_unchecked(
        &directory,
        "UPDATE forum_api_deliveries SET state = 'paused', due_at = due_at - 1 WHERE event = 'evt_1';
        UPDATE forum_api_deliveries SET topic = 'badge.v2', due_at = due_at - 1 WHERE event = 'evt_2'",
    );
    let two = Claim {
        per_endpoint: 2,
        ..claim()
    };
    let mut taken = Vec::new();
    for _ in 0..3 {
        let claims = deliveries.claim(&two, at(0)).await.unwrap();
        taken.extend(claims.taken.into_iter().map(|one| one.event.id.to_string()));
    }
    taken.sort();
    assert_eq!(taken, ["evt_3", "evt_4", "evt_5"]);
    let repair = "UPDATE forum_api_deliveries SET state = 'queued' WHERE state = 'paused'";
    run_unchecked(&directory, repair);
    let claims = deliveries.claim(&claim(), at(LEASE)).await.unwrap();
    assert_eq!(claims.taken.len(), 4, "all that can be read");
    assert!(claims.taken.iter().all(|one| !one.lease_expired));
}

/// The topics of a newer version are ignored, and an endpoint that cannot be read is left out.
#[tokio::test]
async fn an_unreadable_endpoint_delays_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let webhooks = Webhooks::in_sqlite(&open(&directory));
    let endpoints = ["whe_1", "whe_2", "whe_3"].map(|id| Endpoint {
        id: EndpointId::new(id).unwrap(),
        ..endpoint()
    });
    for endpoint in &endpoints {
        webhooks.endpoints.add(endpoint).await.unwrap();
    }
    run_unchecked(
        &directory,
        "UPDATE forum_api_endpoints SET topics = '[\"*\",\"badge.v2\"]' WHERE id = 'whe_2';
        UPDATE forum_api_endpoints SET topics = 'all' WHERE id = 'whe_3'",
    );
    let all = webhooks.endpoints.all().await.unwrap();
    assert_eq!(all, endpoints[..2]);
    deliver(&webhooks, &event("evt_1"), &endpoints).await;
    let claims = webhooks.deliveries.claim(&claim(), at(0)).await.unwrap();
    assert_eq!(claims.taken.len(), 2);
}

#[tokio::test]
async fn a_long_queue_is_counted_up_to_a_bound() {
    let directory = tempfile::tempdir().unwrap();
    let webhooks = Webhooks::in_sqlite(&open(&directory));
    for id in ["whe_0", "whe_1"] {
        let id = EndpointId::new(id).unwrap();
        let endpoint = Endpoint { id, ..endpoint() };
        webhooks.endpoints.add(&endpoint).await.unwrap();
    }
    run_unchecked(
        &directory,
        "INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at)
        VALUES ('evt_1', 'post.created', 0, '{}', 0);
        INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 12000)
        SELECT 'dlv_' || i, 'evt_1', 'post.created', 'whe_' || (i % 2), 0, 'queued', 0, i FROM n",
    );
    let backlog = webhooks.deliveries.backlog(at(0)).await.unwrap();
    assert_eq!(backlog.depth, Backlog::MAX_DEPTH);
    assert_eq!(backlog.since.map(|since| since.as_millis()), Some(1));
}
