//! From an event to its receipt, at 50 a second.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use forum_api::webhook::Topic;
use forum_api::webhook::worker::WorkerHandle;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval};

use crate::figures::Times;
use crate::receiver::{Receipt, fast, hanging};
use crate::rig::{Rig, event};
use crate::{ROUNDS, queued};

/// How many events a round has, at which distance.
const EVENTS: (usize, Duration) = (200, Duration::from_millis(20));

/// A board whose events are received, and what stands beside the receiver.
struct Scene {
    what: String,
    rig: Rig,
    worker: WorkerHandle,
    topic: Topic,
    receipts: UnboundedReceiver<Receipt>,
    times: Times,
}

pub async fn measure() {
    println!("from an event to its receipt, at 50 a second (least, median, most of {ROUNDS})");
    let mut scenes = [
        Scene::new("alone", None).await,
        Scene::new("beside one that hangs", Some(0)).await,
        Scene::new(
            &format!("beside one that hangs, {} queued", queued()),
            Some(queued()),
        )
        .await,
    ];
    for _ in 0..ROUNDS {
        for scene in &mut scenes {
            scene.round().await;
        }
    }
    let [alone, others @ ..] = &scenes;
    alone.times.tell(&alone.what);
    for scene in others {
        scene.times.tell(&scene.what);
        scene.times.compare(&scene.what, &alone.times);
    }
    for scene in &scenes {
        scene.worker.stop().await;
    }
}

impl Scene {
    /// One receiver alone, or beside one that hangs for which so many wait.
    async fn new(what: &str, hangs: Option<usize>) -> Self {
        let (rig, topic) = (Rig::new().await, Topic::new("bench.event").unwrap());
        let (url, receipts) = fast();
        rig.endpoint(&url, &topic).await;
        if let Some(queued) = hangs {
            let endpoint = rig.endpoint(&hanging(), &topic).await;
            rig.queue(&topic, &endpoint, queued).await;
        }
        Self {
            what: what.into(),
            worker: rig.work(),
            rig,
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
            self.rig.webhooks.outbox.put(&event).await.unwrap();
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
}
