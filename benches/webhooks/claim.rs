//! Time of a claim for one endpoint while many deliveries of another endpoint are queued.

use std::collections::HashMap;
use std::env;
use std::time::{Duration, Instant};

use forum_api::model::EndpointId;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::ClaimRequest;
use forum_api::webhook::Topic;

use crate::fixture::BenchFixture;
use crate::measurements::{Goal, Samples, row};
use crate::{ROUNDS, storage};

/// Number of claims in a round.
const CLAIMS: usize = 100;

/// Maximum number of deliveries in flight to one endpoint.
const MAX_PER_ENDPOINT: u32 = 4;

/// Two endpoints; one has reached the maximum in flight.
struct BenchScenario {
    fixture: BenchFixture,
    topic: Topic,
    endpoint: EndpointId,
    full: EndpointId,
}

pub async fn measure() {
    let queued = env::var("QUEUED").map_or(1_000_000, |queued| queued.parse().unwrap());
    println!("a claim of {MAX_PER_ENDPOINT} (least, median, most of {ROUNDS})");
    let scenarios = [
        BenchScenario::new(0).await,
        BenchScenario::new(queued).await,
    ];
    let (mut empty, mut flooded, mut ratio) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..ROUNDS {
        let [alone, beside] = round(&scenarios).await;
        empty.add(alone);
        flooded.add(beside);
        ratio.add(beside / alone);
    }
    empty.report("an empty queue, p50 in ms");
    flooded.report(&format!("{queued} queued for another endpoint, p50 in ms"));
    let what = format!(
        "claim with {queued} deliveries queued for an unresponsive receiver, {}",
        storage::backend_name()
    );
    row(
        &what,
        "ratio of p50",
        "an empty queue",
        Goal::AtMost(1.5),
        &ratio,
    );
}

/// Returns the median duration of a claim in each scenario, in milliseconds. Scenarios take turns.
async fn round(scenarios: &[BenchScenario; 2]) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for scenario in scenarios {
        scenario.fill().await;
    }
    for _ in 0..CLAIMS {
        for (scenario, times) in scenarios.iter().zip(&mut times) {
            times.push(scenario.claim().await);
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    })
}

impl BenchScenario {
    async fn new(queued: usize) -> Self {
        let (fixture, topic) = (
            BenchFixture::new().await,
            Topic::parse("bench.event").unwrap(),
        );
        let full = fixture.endpoint("http://127.0.0.1:9/", &topic).await;
        let endpoint = fixture.endpoint("http://127.0.0.1:10/", &topic).await;
        fixture.queue(&topic, &full, queued).await;
        Self {
            fixture,
            topic,
            endpoint,
            full,
        }
    }

    /// Queues the deliveries of a round.
    async fn fill(&self) {
        let count = CLAIMS * MAX_PER_ENDPOINT as usize;
        self.fixture.queue(&self.topic, &self.endpoint, count).await;
    }

    /// Returns the duration of a claim while the other endpoint has reached the maximum in flight.
    async fn claim(&self) -> Duration {
        let claim = ClaimRequest {
            limit: 252,
            max_in_flight_per_endpoint: MAX_PER_ENDPOINT,
            in_flight_by_endpoint: HashMap::from([(self.full.clone(), MAX_PER_ENDPOINT)]),
            max_failing: 252,
            lease_duration: Duration::from_secs(3600),
        };
        let start = Instant::now();
        let deliveries = &self.fixture.webhooks.deliveries;
        let claims = deliveries.claim(&claim, SystemClock.now()).await.unwrap();
        let took = start.elapsed();
        assert_eq!(claims.deliveries.len(), MAX_PER_ENDPOINT as usize);
        took
    }
}
