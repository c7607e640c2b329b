//! Webhook deliveries compared with svix-server 1.100 with Postgres and Redis on a comparable machine: `cargo bench -p
//! forum-benches --bench webhooks`, or with `-- receipt` or `-- throughput` one part of it.
//!
//! Uses the real parts: a database, the reference board as authorizer, one worker, HTTP, and a receiver on loopback in
//! the same process. The database is a SQLite file, or with `FORUM_API_BACKEND=postgres` a new database in the Postgres
//! of `FORUM_API_POSTGRES`, which must write durably. Takes one minute.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use forum_api::webhook::Topic;
use forum_api::worker::WorkerSettings;
use forum_benches::fixture::{BenchFixture, event};
use forum_benches::measurements::{
    Goal, ROUNDS, Row, Samples, backend_name, by_backend, is_selected, number, percentiles,
};
use forum_benches::receiver;
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval, sleep};

/// Number of events in a round of receipts, and the interval between them.
const EVENTS: (usize, Duration) = (200, Duration::from_millis(20));

/// Maximum number of deliveries in flight, in the part `throughput`.
const IN_FLIGHT: u32 = 64;

#[tokio::main]
async fn main() {
    let topic = Topic::from_static("bench.event");
    if is_selected("receipt") {
        receipt(&topic).await;
    }
    if is_selected("throughput") {
        throughput(&topic).await;
    }
}

/// Time from an event to its receipt, at 50 events per second.
async fn receipt(topic: &Topic) {
    let fixture = BenchFixture::new().await;
    let (url, mut receipts) = receiver::start();
    fixture.endpoint(&url, topic).await;
    let worker = fixture.work(WorkerSettings::default());
    let mut p50 = Samples::default();
    let mut p99 = Samples::default();
    for _ in 0..ROUNDS {
        let (count, distance) = EVENTS;
        let mut ticks = interval(distance);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut happened = HashMap::new();
        for _ in 0..count {
            ticks.tick().await;
            let event = event(topic);
            happened.insert(event.id.to_string(), Instant::now());
            fixture.webhooks.insert_event(&event).await.unwrap();
            worker.wake();
        }
        let mut times = Vec::new();
        while times.len() < count {
            let (came, body) = receipts.recv().await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let event = body["event"].as_str().unwrap();
            times.extend(happened.remove(event).map(|start| came - start));
        }
        let [median, late] = percentiles(times, [50.0, 99.0]);
        p50.add(median);
        p99.add(late);
    }
    worker.stop().await;
    let backend = backend_name();
    for (percentile, baseline, limit, figures) in
        [("p50", "svix-server: 4 ms", 3.0, &p50), ("p99", "svix-server: 23 ms", 15.0, &p99)]
    {
        Row {
            what: &format!("event to receipt at 50 events/s, {backend}, {percentile}"),
            unit: "ms",
            baseline,
            goal: Goal::AtMost(limit),
            cause: "",
        }
        .write(figures);
    }
}

/// Deliveries of 1 KB per second by one worker.
async fn throughput(topic: &Topic) {
    let mut figures = Samples::default();
    for _ in 0..ROUNDS {
        figures.add(deliveries_per_second(topic).await);
    }
    let backend = backend_name();
    Row {
        what: &format!("deliveries/s of 1 KB, one worker, {backend}, {IN_FLIGHT} in flight"),
        unit: "deliveries/s",
        baseline: "svix-server: 1,130",
        goal: Goal::AtLeast(by_backend(6_000.0, 4_000.0)),
        cause: "",
    }
    .write(&figures);
}

/// Delivers from the outbox and records the results.
async fn deliveries_per_second(topic: &Topic) -> f64 {
    let count = number("DELIVERIES", 10_000) as usize;
    let fixture = BenchFixture::new().await;
    let (url, mut receipts) = receiver::start();
    fixture.endpoint(&url, topic).await;
    fixture.put(topic, count).await;
    let mut settings = WorkerSettings::default();
    settings.max_in_flight_per_endpoint = IN_FLIGHT;
    let start = Instant::now();
    let worker = fixture.work(settings);
    for _ in 0..count {
        receipts.recv().await.unwrap();
    }
    while worker.health().in_flight > 0 {
        sleep(Duration::from_millis(1)).await;
    }
    let per_second = count as f64 / start.elapsed().as_secs_f64();
    worker.stop().await;
    per_second
}
