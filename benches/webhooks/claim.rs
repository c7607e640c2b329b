//! A claim for one endpoint, beside another for which many deliveries wait.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use forum_api::clock::{Clock, SystemClock};
use forum_api::model::EndpointId;
use forum_api::store::Claim;
use forum_api::webhook::Topic;

use crate::figures::Times;
use crate::rig::Rig;
use crate::{ROUNDS, queued};

/// How many claims a round has.
const CLAIMS: usize = 100;

/// How many an endpoint has room for.
const ROOM: u32 = 4;

/// Two endpoints, one of which is full.
struct Scene {
    rig: Rig,
    topic: Topic,
    endpoint: EndpointId,
    full: EndpointId,
    times: Times,
}

pub async fn measure() {
    println!("a claim of {ROOM} (least, median, most of {ROUNDS})");
    let (mut empty, mut flooded) = (Scene::new(0).await, Scene::new(queued()).await);
    for _ in 0..ROUNDS {
        empty.round().await;
        flooded.round().await;
    }
    let what = format!("beside {} queued for another", queued());
    empty.times.tell("alone");
    flooded.times.tell(&what);
    flooded.times.compare(&what, &empty.times);
}

impl Scene {
    async fn new(queued: usize) -> Self {
        let (rig, topic) = (Rig::new().await, Topic::new("bench.event").unwrap());
        let full = rig.endpoint("http://127.0.0.1:9/", &topic).await;
        let endpoint = rig.endpoint("http://127.0.0.1:10/", &topic).await;
        rig.queue(&topic, &full, queued).await;
        Self {
            rig,
            topic,
            endpoint,
            full,
            times: Times::default(),
        }
    }

    async fn round(&mut self) {
        let (rig, claim) = (&self.rig, self.claim());
        let per_claim = ROOM as usize;
        rig.queue(&self.topic, &self.endpoint, CLAIMS * per_claim)
            .await;
        let mut times = Vec::new();
        for _ in 0..CLAIMS {
            let start = Instant::now();
            let claims = rig.webhooks.deliveries.claim(&claim, SystemClock.now());
            let taken = claims.await.unwrap().taken;
            times.push(start.elapsed());
            assert_eq!(taken.len(), per_claim);
        }
        self.times.add(times);
    }

    /// The other one hangs with all that it has room for.
    fn claim(&self) -> Claim {
        Claim {
            room: 252,
            per_endpoint: ROOM,
            running: HashMap::from([(self.full.clone(), ROOM)]),
            lease: Duration::from_secs(3600),
        }
    }
}
