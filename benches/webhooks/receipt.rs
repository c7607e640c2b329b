//! Time from an event to its receipt, at 50 events per second.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use forum_api::webhook::Topic;
use forum_api::worker::{WorkerHandle, WorkerSettings};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval};

use crate::fixture::{BenchFixture, event};
use crate::measurements::{Goal, Times, row};
use crate::receiver::{Receipt, fast, hanging};
use crate::{ROUNDS, storage};

/// Number of events in a round, and the interval between them.
const EVENTS: (usize, Duration) = (200, Duration::from_millis(20));

/// Number of deliveries queued for the endpoint that never responds.
const QUEUED: usize = 10_000;

/// A board with a receiver, and optionally an endpoint that never responds.
struct BenchScenario {
    what: &'static str,
    fixture: BenchFixture,
    worker: WorkerHandle,
    topic: Topic,
    receipts: UnboundedReceiver<Receipt>,
    times: Times,
}

pub async fn measure() {
    println!("from an event to its receipt, at 50 events/s (least, median, most of {ROUNDS})");
    let mut scenarios = [
        BenchScenario::new("no other receiver", false).await,
        BenchScenario::new("with an unresponsive receiver", true).await,
    ];
    for _ in 0..ROUNDS {
        for scenario in &mut scenarios {
            scenario.round().await;
        }
    }
    for scenario in &scenarios {
        scenario.report();
        scenario.worker.stop().await;
    }
}

impl BenchScenario {
    /// Creates the scenario with or without an endpoint that never responds.
    async fn new(what: &'static str, hangs: bool) -> Self {
        let (fixture, topic) = (
            BenchFixture::new().await,
            Topic::parse("bench.event").unwrap(),
        );
        let (url, receipts) = fast();
        fixture.endpoint(&url, &topic).await;
        if hangs {
            let endpoint = fixture.endpoint(&hanging(), &topic).await;
            fixture.queue(&topic, &endpoint, QUEUED).await;
        }
        Self {
            what,
            worker: fixture.work(WorkerSettings::default()),
            fixture,
            topic,
            receipts,
            times: Times::default(),
        }
    }

    async fn round(&mut self) {
        let (count, distance) = EVENTS;
        let mut ticks = interval(distance);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut happened = HashMap::new();
        for _ in 0..count {
            ticks.tick().await;
            let event = event(&self.topic);
            happened.insert(event.id.to_string(), Instant::now());
            self.fixture.webhooks.outbox.insert(&event).await.unwrap();
            self.worker.wake();
        }
        let mut times = Vec::new();
        while times.len() < count {
            let (came, body) = self.receipts.recv().await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let event = body["event"].as_str().unwrap();
            times.extend(happened.remove(event).map(|start| came - start));
        }
        self.times.add(times);
    }

    fn report(&self) {
        let what = format!(
            "event to receipt at 50 events/s, {}, {}",
            storage::backend_name(),
            self.what
        );
        for (part, known, limit, figures) in [
            ("p50", "svix-server: 4 ms", 3.0, &self.times.p50),
            ("p99", "svix-server: 23 ms", 15.0, &self.times.p99),
        ] {
            let what = format!("{what}, {part}");
            row(&what, "ms", known, Goal::AtMost(limit), figures);
        }
    }
}
