//! A claim for one endpoint, beside another for which many deliveries wait.

use std::collections::HashMap;
use std::env;
use std::time::{Duration, Instant};

use forum_api::model::EndpointId;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::ClaimRequest;
use forum_api::webhook::Topic;

use crate::fixture::BenchFixture;
use crate::measurements::{Goal, Samples, row};
use crate::{ROUNDS, place};

/// How many claims a round has.
const CLAIMS: usize = 100;

/// How many an endpoint has room for.
const ROOM: u32 = 4;

/// Two endpoints, one of which is full.
struct BenchScenario {
    rig: BenchFixture,
    topic: Topic,
    endpoint: EndpointId,
    full: EndpointId,
}

pub async fn measure() {
    let queued = env::var("QUEUED").map_or(1_000_000, |queued| queued.parse().unwrap());
    println!("a claim of {ROOM} (least, median, most of {ROUNDS})");
    let scenes = [
        BenchScenario::new(0).await,
        BenchScenario::new(queued).await,
    ];
    let (mut empty, mut flooded, mut ratio) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..ROUNDS {
        let [alone, beside] = round(&scenes).await;
        empty.add(alone);
        flooded.add(beside);
        ratio.add(beside / alone);
    }
    empty.report("an empty queue, p50 in ms");
    flooded.report(&format!("{queued} queued for another, p50 in ms"));
    let what = format!(
        "claim beside {queued} queued for one that hangs, on {}",
        place::name()
    );
    row(
        &what,
        "ratio of p50",
        "an empty queue",
        Goal::AtMost(1.5),
        &ratio,
    );
}

/// What half of the claims keep to in each scene, in milliseconds. They take turns.
async fn round(scenes: &[BenchScenario; 2]) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for scene in scenes {
        scene.fill().await;
    }
    for _ in 0..CLAIMS {
        for (scene, times) in scenes.iter().zip(&mut times) {
            times.push(scene.claim().await);
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    })
}

impl BenchScenario {
    async fn new(queued: usize) -> Self {
        let (rig, topic) = (
            BenchFixture::new().await,
            Topic::parse("bench.event").unwrap(),
        );
        let full = rig.endpoint("http://127.0.0.1:9/", &topic).await;
        let endpoint = rig.endpoint("http://127.0.0.1:10/", &topic).await;
        rig.queue(&topic, &full, queued).await;
        Self {
            rig,
            topic,
            endpoint,
            full,
        }
    }

    /// What a round takes.
    async fn fill(&self) {
        let count = CLAIMS * ROOM as usize;
        self.rig.queue(&self.topic, &self.endpoint, count).await;
    }

    /// The other one hangs with all that it has room for.
    async fn claim(&self) -> Duration {
        let claim = ClaimRequest {
            limit: 252,
            per_endpoint: ROOM,
            in_flight: HashMap::from([(self.full.clone(), ROOM)]),
            lease: Duration::from_secs(3600),
        };
        let start = Instant::now();
        let deliveries = &self.rig.webhooks.deliveries;
        let claims = deliveries.claim(&claim, SystemClock.now()).await.unwrap();
        let took = start.elapsed();
        assert_eq!(claims.deliveries.len(), ROOM as usize);
        took
    }
}
