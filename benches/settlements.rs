//! How many deliveries a second the stores claim and settle: `cargo bench --bench settlements`.
//!
//! Each worker claims 64 of what is due at twenty endpoints, settles them all at once, each with its attempt, and claims
//! again, until nothing is left. SQLite is in a file; Postgres is the one that `FORUM_API_POSTGRES` names, in a schema
//! that is dropped afterwards.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement that goes wrong is to fail"
)]

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use forum_api::model::{EndpointId, EventId, Timestamp, UserId};
use forum_api::store::postgres::{connect, migrate};
use forum_api::store::sqlite::{Database, Location};
use forum_api::store::{Claim, Claimed, FanOut, Webhooks};
use forum_api::webhook::{Attempted, Endpoint, Event, Progress, Sealed, State, Topic, Topics};
use tokio::task::JoinSet;

const ENDPOINTS: u64 = 20;

/// How many events go to each endpoint in a round.
const EVENTS: u64 = 500;

const ROUNDS: u64 = 3;

#[tokio::main]
async fn main() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("forum.db");
    let database = Database::open(&Location::File { path, create: true }).unwrap();
    measure("SQLite", &Webhooks::in_sqlite(&database)).await;
    if let Ok(address) = std::env::var("FORUM_API_POSTGRES") {
        let own = format!("settlements_{}", std::process::id());
        let pool = connect(&format!("{address}?options=-csearch_path%3D{own}"), 16).unwrap();
        let client = pool.get().await.unwrap();
        let create = format!("CREATE SCHEMA {own}");
        client.batch_execute(&create).await.unwrap();
        migrate(&pool).await.unwrap();
        measure("Postgres", &Webhooks::in_postgres(&pool)).await;
        let drop = format!("DROP SCHEMA {own} CASCADE");
        client.batch_execute(&drop).await.unwrap();
    }
}

async fn measure(what: &str, webhooks: &Webhooks) {
    let endpoints: Vec<_> = (0..ENDPOINTS).map(endpoint).collect();
    for endpoint in &endpoints {
        webhooks.endpoints.add(endpoint).await.unwrap();
    }
    let mut first = 0;
    for workers in [1, 2, 4] {
        let mut rates = Vec::new();
        for _ in 0..ROUNDS {
            fill(webhooks, first..first + EVENTS, &endpoints).await;
            first += EVENTS;
            let start = Instant::now();
            let done: u64 = (0..workers)
                .map(|_| work(webhooks.clone()))
                .collect::<JoinSet<_>>()
                .join_all()
                .await
                .iter()
                .sum();
            assert_eq!(done, EVENTS * ENDPOINTS);
            rates.push(done as f64 / start.elapsed().as_secs_f64());
        }
        rates.sort_by(f64::total_cmp);
        println!(
            "{what}, {workers} at work: {:.0} {:.0} {:.0} a second",
            rates[0], rates[1], rates[2]
        );
    }
}

async fn fill(webhooks: &Webhooks, numbers: std::ops::Range<u64>, endpoints: &[Endpoint]) {
    for number in numbers {
        let event = event(number);
        webhooks.outbox.put(&event).await.unwrap();
        let endpoints = endpoints.iter().map(|one| one.id.clone()).collect();
        let fan_out = FanOut {
            event: event.id,
            endpoints,
        };
        webhooks.outbox.fan_out(&[fan_out], at(0)).await.unwrap();
    }
}

/// How many it claimed and settled until nothing was due.
async fn work(webhooks: Webhooks) -> u64 {
    let claim = Claim {
        room: 64,
        per_endpoint: 4,
        running: HashMap::new(),
        lease: Duration::from_secs(60),
    };
    let mut done = 0;
    loop {
        let claims = webhooks.deliveries.claim(&claim, at(1)).await.unwrap();
        if claims.taken.is_empty() && claims.next.is_none_or(|next| next > at(1)) {
            return done;
        }
        let settlements = claims
            .taken
            .into_iter()
            .map(|claimed| settle(webhooks.clone(), claimed));
        done += settlements.collect::<JoinSet<_>>().join_all().await.len() as u64;
    }
}

async fn settle(webhooks: Webhooks, claimed: Claimed) {
    let delivered = Progress {
        state: State::Delivered,
        attempts: 1,
        due_at: None,
    };
    let attempted = Attempted {
        attempt: 1,
        at: at(1),
        status: Some(204),
        error: None,
        duration_ms: 7,
        answer: Some("thanks".into()),
    };
    let settled = webhooks
        .deliveries
        .settle(&claimed, &delivered, Some(&attempted), at(1));
    assert!(settled.await.unwrap());
}

fn endpoint(number: u64) -> Endpoint {
    Endpoint {
        id: EndpointId::new(&format!("whe_{number:022}")).unwrap(),
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

fn event(number: u64) -> Event {
    Event {
        id: EventId::new(&format!("evt_{number:022}")).unwrap(),
        topic: Topic::POST_CREATED,
        occurred_at: at(0),
        forum: None,
        body: "x".repeat(1_500),
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + millis)
}
