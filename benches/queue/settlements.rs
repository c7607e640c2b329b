//! How many deliveries a second the stores claim, begin to send and settle.
//!
//! Each worker claims 64 due deliveries at twenty endpoints, records that sending begins, settles them together, each with
//! its attempt, and claims again, until no delivery is left. SQLite is in a file; Postgres is the one that
//! `FORUM_API_POSTGRES` names, in a schema that is dropped afterwards.

use std::time::Instant;

use forum_api::store::postgres::{connect, migrate};
use forum_api::store::sqlite::{Database, Location};
use forum_api::store::{Claimed, FanOut, Settlement, Webhooks};
use forum_api::webhook::{Attempted, Endpoint};
use tokio::task::JoinSet;

use crate::fixture::{DELIVERED, at, claim, endpoint, event};

const ENDPOINTS: u64 = 20;

/// How many events go to each endpoint in a round.
const EVENTS: u64 = 500;

const ROUNDS: u64 = 3;

pub async fn run() {
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
    let mut done = 0;
    loop {
        let claims = webhooks.deliveries.claim(&claim(), at(1)).await.unwrap();
        if claims.taken.is_empty() && claims.next.is_none_or(|next| next > at(1)) {
            return done;
        }
        let begun = webhooks.deliveries.begin_sending(&claims.taken, at(1));
        begun.await.unwrap();
        let settlements: Vec<_> = claims.taken.iter().map(delivered).collect();
        let settled = webhooks.deliveries.settle(&settlements, at(1)).await;
        done += settled.unwrap().len() as u64;
    }
}

fn delivered(claimed: &Claimed) -> Settlement {
    let attempted = Attempted {
        attempt: 1,
        at: at(1),
        status: Some(204),
        error: None,
        duration_ms: 7,
        answer: Some("thanks".into()),
    };
    Settlement::new(claimed, DELIVERED, Some(attempted))
}
