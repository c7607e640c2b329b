//! Deliveries of 1 KB per second by one worker.

use std::time::{Duration, Instant};

use bytes::Bytes;
use forum_api::webhook::{SignedRequest, Topic, Transport as _};
use forum_api::worker::WorkerSettings;
use http::HeaderMap;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::fixture::{BenchFixture, event, transport};
use crate::measurements::{Goal, Samples, row};
use crate::receiver::{Receipt, fast};
use crate::{ROUNDS, storage};

/// Number of deliveries in a round.
const COUNT: usize = 10_000;

/// Maximum number of deliveries in flight.
const IN_FLIGHT: u32 = 64;

/// Rate of svix-server 1.100 with Postgres and Redis, on a comparable machine.
const REFERENCE: &str = "svix-server: 1,130";

pub async fn measure() {
    println!("deliveries/s of 1 KB (least, median, most of {ROUNDS})");
    let (mut bare, mut default, mut wide) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..ROUNDS {
        bare.add(transport_only().await);
        default.add(worker(WorkerSettings::default()).await);
        let mut settings = WorkerSettings::default();
        settings.max_in_flight_per_endpoint = IN_FLIGHT;
        wide.add(worker(settings).await);
    }
    bare.report(&format!("the transport only, {IN_FLIGHT} in flight"));
    default.report("a worker, 4 in flight");
    let goal = Goal::AtLeast(if storage::is_postgres() {
        4_000.0
    } else {
        6_000.0
    });
    let what = format!(
        "deliveries/s of 1 KB, one worker, {}, {IN_FLIGHT} in flight",
        storage::backend_name()
    );
    row(&what, "deliveries/s", REFERENCE, goal, &wide);
}

/// Baseline: sends the same bytes to the same receiver without a queue.
async fn transport_only() -> f64 {
    let (transport, topic) = (transport(), Topic::parse("bench.event").unwrap());
    let (url, _receipts) = fast();
    let outgoing = SignedRequest {
        url,
        headers: HeaderMap::new(),
        body: Bytes::from(event(&topic).body),
    };
    let start = Instant::now();
    let mut senders = JoinSet::new();
    for _ in 0..IN_FLIGHT {
        let (transport, outgoing) = (transport.clone(), outgoing.clone());
        senders.spawn(async move {
            for _ in 0..COUNT / IN_FLIGHT as usize {
                transport.send(outgoing.clone()).await.unwrap();
            }
        });
    }
    senders.join_all().await;
    per_second(start)
}

/// Delivers from the outbox and records the result.
async fn worker(settings: WorkerSettings) -> f64 {
    let (fixture, topic) = (
        BenchFixture::new().await,
        Topic::parse("bench.event").unwrap(),
    );
    let (url, receipts) = fast();
    fixture.endpoint(&url, &topic).await;
    fixture.put(&topic, COUNT).await;
    let start = Instant::now();
    let worker = fixture.work(settings);
    all(receipts).await;
    while worker.health().in_flight > 0 {
        sleep(Duration::from_millis(1)).await;
    }
    let per_second = per_second(start);
    worker.stop().await;
    per_second
}

async fn all(mut receipts: UnboundedReceiver<Receipt>) {
    for _ in 0..COUNT {
        receipts.recv().await.unwrap();
    }
}

fn per_second(start: Instant) -> f64 {
    COUNT as f64 / start.elapsed().as_secs_f64()
}
