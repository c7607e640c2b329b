//! What the stores of webhooks in SQLite promise beside the rules.

use std::collections::{BTreeSet, HashMap};
use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use forum_api::model::{DeliveryId, EndpointId, EventId, ForumId, UserId};
use forum_api::store::sqlite::rusqlite::{Connection, params_from_iter};
use forum_api::store::sqlite::{Database, Location, SqliteError};
use forum_api::store::{Claim, FanOut, Settlement, Webhooks};
use forum_api::webhook::{Attempted, Endpoint, Event, Progress, Sealed, State, Topic, Topics};

use crate::backend::{at, open, path};

pub(crate) const LEASE: i64 = 60_000;

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

pub(crate) fn claim() -> Claim {
    Claim {
        room: 9,
        per_endpoint: 9,
        running: HashMap::new(),
        lease: Duration::from_millis(LEASE.unsigned_abs()),
    }
}

/// Puts the event and fans it out to the endpoints, at the beginning.
pub(crate) async fn deliver(webhooks: &Webhooks, event: &Event, endpoints: &[Endpoint]) {
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
