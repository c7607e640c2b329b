//! What the stores of webhooks in SQLite promise beside the rules.

use std::collections::{BTreeSet, HashMap};
use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use forum_api::model::{DeliveryId, EndpointId, EventId, ForumId, UserId};
use forum_api::store::sqlite::rusqlite::{Connection, params_from_iter};
use forum_api::store::sqlite::{Database, Location, SqliteError};
use forum_api::store::{Backlog, Claim, FanOut, Settlement, Webhooks};
use forum_api::webhook::{Attempted, Endpoint, Event, Progress, Sealed, State, Topic, Topics};

use crate::backend::{at, open, path};

const LEASE: i64 = 60_000;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint {
        id: EndpointId::new("whe_1").unwrap(),
        url: "https://example.com".into(),
        topics: Topics {
            all: true,
            named: BTreeSet::new(),
        },
        owner: UserId::from(3),
        enabled: true,
        created_at: at(0),
        secret: Sealed::new(vec![7; 16]),
        pending: None,
        version: 1,
    }
}

pub(crate) fn event(name: &str) -> Event {
    Event {
        id: EventId::new(name).unwrap(),
        topic: Topic::POST_CREATED,
        occurred_at: at(-7),
        forum: Some(ForumId::from(4)),
        body: "{\"a\":\"'é\"}".into(),
    }
}

fn claim() -> Claim {
    Claim {
        room: 9,
        per_endpoint: 9,
        running: HashMap::new(),
        lease: Duration::from_millis(LEASE.unsigned_abs()),
    }
}

/// Puts the event and fans it out to the endpoints, at the beginning.
async fn deliver(webhooks: &Webhooks, event: &Event, endpoints: &[Endpoint]) {
    let fan_out = FanOut {
        event: event.id.clone(),
        endpoints: endpoints.iter().map(|one| one.id.clone()).collect(),
    };
    webhooks.outbox.put(event).await.unwrap();
    webhooks.outbox.fan_out(&[fan_out], at(0)).await.unwrap();
}

/// How many events, deliveries and attempts the tables hold.
async fn rows(database: &Database) -> [u32; 3] {
    let tables = ["events", "deliveries", "attempts"];
    database
        .read::<_, SqliteError>(move |connection| {
            Ok(tables.map(|table| {
                let count = format!("SELECT count(*) FROM forum_api_{table}");
                connection.query_row(&count, [], |row| row.get(0)).unwrap()
            }))
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn a_host_puts_an_event_into_its_own_transaction() {
    let directory = tempfile::tempdir().unwrap();
    let webhooks = Webhooks::in_sqlite(&open(&directory));
    let mut host = Connection::open(path(&directory)).unwrap();
    let everywhere = Event {
        forum: None,
        ..event("evt_2")
    };
    for (commits, event) in [
        (false, event("evt_0")),
        (true, event("evt_1")),
        (true, everywhere),
    ] {
        let transaction = host.transaction().unwrap();
        for _ in 0..2 {
            let parameters = params_from_iter(event.parameters());
            transaction.execute(Event::INSERT, parameters).unwrap();
        }
        assert!(!webhooks.outbox.waiting(9).await.unwrap().contains(&event));
        if commits {
            transaction.commit().unwrap();
        } else {
            transaction.rollback().unwrap();
        }
        let waits = webhooks.outbox.waiting(9).await.unwrap().contains(&event);
        assert_eq!(waits, commits);
    }
}

#[tokio::test]
async fn an_event_goes_with_its_last_delivery() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let webhooks = Webhooks::in_sqlite(&database);
    let endpoints = ["whe_1", "whe_2"].map(|id| Endpoint {
        id: EndpointId::new(id).unwrap(),
        ..endpoint()
    });
    for endpoint in &endpoints {
        webhooks.endpoints.add(endpoint).await.unwrap();
    }
    deliver(&webhooks, &event("evt_0"), &[]).await;
    assert_eq!(rows(&database).await, [0, 0, 0]);
    deliver(&webhooks, &event("evt_1"), &endpoints).await;
    let attempted = Attempted {
        attempt: 1,
        at: at(0),
        status: Some(200),
        error: None,
        duration_ms: 3,
        answer: None,
    };
    let delivered = Progress {
        state: State::Delivered,
        attempts: 1,
        due_at: None,
    };
    let deliveries = &webhooks.deliveries;
    for claimed in deliveries.claim(&claim(), at(0)).await.unwrap().taken {
        let settlement = Settlement::new(&claimed, delivered, Some(attempted.clone()));
        let settled = deliveries.settle(&[settlement], at(0)).await.unwrap();
        assert!(settled.contains(&claimed.delivery.id));
    }
    assert_eq!(rows(&database).await, [1, 2, 2]);
    let id = DeliveryId::of(&event("evt_1").id, &endpoints[0].id);
    assert!(deliveries.remove(&id).await.unwrap());
    assert_eq!(rows(&database).await, [1, 1, 1]);
    assert_eq!(deliveries.sweep(at(1), 9).await.unwrap(), 1);
    assert_eq!(rows(&database).await, [0, 0, 0]);
}

#[tokio::test]
async fn a_claim_of_nothing_does_not_write() {
    let directory = tempfile::tempdir().unwrap();
    let webhooks = Webhooks::in_sqlite(&open(&directory));
    webhooks.endpoints.add(&endpoint()).await.unwrap();
    deliver(&webhooks, &event("evt_1"), &[endpoint()]).await;
    let another_process = Connection::open(path(&directory)).unwrap();
    another_process.execute_batch("BEGIN IMMEDIATE").unwrap();
    let claims = webhooks.deliveries.claim(&claim(), at(-1)).await.unwrap();
    assert_eq!((claims.taken, claims.next), (vec![], Some(at(0))));
}

/// What tells the process that is to die in whose directory.
const DIES_IN: &str = "FORUM_API_DIES_IN";

/// Puts one event, fans out another one, claims it, begins to send, and dies before the end is recorded.
async fn die(directory: String) -> ! {
    let location = Location::File {
        path: PathBuf::from(directory).join("forum.db"),
        create: true,
    };
    let webhooks = Webhooks::in_sqlite(&Database::open(&location).unwrap());
    webhooks.endpoints.add(&endpoint()).await.unwrap();
    deliver(&webhooks, &event("evt_1"), &[endpoint()]).await;
    webhooks.outbox.put(&event("evt_2")).await.unwrap();
    let taken = webhooks
        .deliveries
        .claim(&claim(), at(0))
        .await
        .unwrap()
        .taken;
    assert_eq!(taken.len(), 1);
    let begun = webhooks.deliveries.begin_sending(&taken, at(1));
    assert_eq!(begun.await.unwrap().len(), 1);
    std::process::abort();
}

#[tokio::test]
async fn what_a_worker_held_that_was_killed_comes_back_after_its_lease() {
    if let Ok(directory) = env::var(DIES_IN) {
        die(directory).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let name = "webhooks::what_a_worker_held_that_was_killed_comes_back_after_its_lease";
    let died = Command::new(env::current_exe().unwrap())
        .args([name, "--exact"])
        .env(DIES_IN, directory.path())
        .output()
        .unwrap();
    assert_eq!(died.status.code(), None, "it was aborted: {died:?}");

    let webhooks = Webhooks::in_sqlite(&open(&directory));
    assert_eq!(webhooks.outbox.waiting(9).await.unwrap(), [event("evt_2")]);
    let deliveries = &webhooks.deliveries;
    let before = deliveries.claim(&claim(), at(LEASE - 1)).await.unwrap();
    assert_eq!((before.taken, before.next), (vec![], Some(at(LEASE))));
    let [claimed] = &deliveries.claim(&claim(), at(LEASE)).await.unwrap().taken[..] else {
        panic!("it does not come back");
    };
    assert!(claimed.lease_expired, "its worker had begun to send");
    assert_eq!(claimed.event, event("evt_1"));
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
    assert_eq!(outbox.waiting(9).await.unwrap(), [event("evt_1")]);
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
    // Two that are due first, at an endpoint that has room for two.
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
        SELECT 'dlv_' || i, 'evt_1', 'post.created', 'whe_' || i % 2, 0, 'queued', 0, i FROM n",
    );
    let backlog = webhooks.deliveries.backlog(at(0)).await.unwrap();
    assert_eq!(backlog.depth, Backlog::MAX_DEPTH);
    assert_eq!(backlog.since.map(|since| since.as_millis()), Some(1));
}
