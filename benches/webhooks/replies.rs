//! What a reply takes through the API, with webhooks and without.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use forum_api::budget::Window;
use forum_api::clock::{Clock, SystemClock, SystemEntropy, TokioRuntime};
use forum_api::model::UserId;
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::token::{Issue, issue};
use forum_api::webhook::Topic;
use forum_api::webhook::worker::WorkerHandle;
use forum_api::{ForumApi, Settings};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tower::ServiceExt as _;

use crate::ROUNDS;
use crate::board::groups::{Group, Groups};
use crate::board::{accounts, demo, settings};
use crate::figures::{Figures, Times};
use crate::receiver::fast;
use crate::rig::Rig;

/// How many members write at once.
const WRITERS: usize = 64;

/// How long they do in a round.
const ROUND: Duration = Duration::from_secs(2);

/// How far replies are apart, and how many there are in a round, where one member writes one after the other.
const PACE: (Duration, usize) = (Duration::from_millis(20), 100);

/// A board with endpoints that are told of its replies.
struct Scene {
    what: String,
    rig: Rig,
    stores: Stores,
    path: String,
    tokens: Vec<String>,
    each: Times,
    flood: Times,
    per_second: Figures,
}

pub async fn measure() {
    println!("a reply (least, median, most of {ROUNDS})");
    let mut scenes = [Scene::new(0).await, Scene::new(10).await];
    for _ in 0..ROUNDS {
        for scene in &mut scenes {
            scene.round().await;
        }
    }
    let [none, ten] = &scenes;
    none.tell();
    ten.tell();
    ten.each.compare("10 endpoints, 50 a second", &none.each);
    let ratio = ten.per_second.most() / none.per_second.most();
    println!("  10 endpoints, {WRITERS} writers, ratio of replies a second {ratio:.2}");
}

impl Scene {
    async fn new(endpoints: usize) -> Self {
        let rig = Rig::new().await;
        for _ in 0..endpoints {
            rig.endpoint(&fast().0, &Topic::POST_CREATED).await;
        }
        let (thread, writers) = people(&rig).await;
        let stores = Stores::in_sqlite(&rig.database);
        let mut tokens = Vec::new();
        for writer in writers {
            tokens.push(token(&stores, &writer).await);
        }
        Self {
            what: format!("{endpoints} endpoints"),
            rig,
            stores,
            path: format!("/api/v1/threads/{thread}/posts"),
            tokens,
            each: Times::default(),
            flood: Times::default(),
            per_second: Figures::default(),
        }
    }

    /// What the worker has not sent by the end of a round it sends in the next.
    async fn round(&mut self) {
        let worker = self.rig.work();
        let api = self.api(&worker);
        self.each.add(self.one_by_one(&api).await);
        let times = self.all_at_once(&api).await;
        let per_second = times.len() as f64 / ROUND.as_secs_f64();
        self.per_second.add(per_second);
        self.flood.add(times);
        worker.stop().await;
    }

    fn api(&self, worker: &WorkerHandle) -> ForumApi {
        let worker = worker.clone();
        let board = Arc::new(self.rig.board.clone().with_wake(move || worker.wake()));
        let units = u32::MAX;
        let length = Duration::from_secs(300);
        let settings = Settings {
            token_window: Window { units, length },
            ..Settings::default()
        };
        ForumApi::builder(board.clone(), board, self.stores.clone(), TokioRuntime)
            .settings(settings)
            .build()
    }

    async fn one_by_one(&self, api: &ForumApi) -> Vec<Duration> {
        let mut ticks = interval(PACE.0);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut times = Vec::new();
        while times.len() < PACE.1 {
            ticks.tick().await;
            times.push(reply(api, &self.path, &self.tokens[0]).await);
        }
        times
    }

    async fn all_at_once(&self, api: &ForumApi) -> Vec<Duration> {
        let end = Instant::now() + ROUND;
        let mut writers = JoinSet::new();
        for token in self.tokens.clone() {
            let (api, path) = (api.clone(), self.path.clone());
            writers.spawn(async move {
                let mut times = Vec::new();
                while Instant::now() < end {
                    times.push(reply(&api, &path, &token).await);
                }
                times
            });
        }
        writers.join_all().await.concat()
    }

    fn tell(&self) {
        let what = &self.what;
        self.each.tell(&format!("{what}, 50 a second"));
        self.flood.tell(&format!("{what}, {WRITERS} writers"));
        self.per_second
            .tell(&format!("{what}, {WRITERS} writers, replies a second"));
    }
}

/// A thread, and those who write in it.
async fn people(rig: &Rig) -> (i64, Vec<UserId>) {
    let groups = Groups::of([Group::Members]);
    let fill = rig.board.write(move |tx, events| {
        Box::pin(async move {
            for (key, value) in [
                ("post.interval_seconds", "0"),
                ("post.per_hour", "4294967295"),
            ] {
                settings::named(key).unwrap().set(tx, value).await?;
            }
            let trial = demo::begin(tx, "", false, events.now).await?.unwrap();
            let mut writers = Vec::new();
            for number in 0..WRITERS {
                let name = format!("writer{number}");
                let writer = accounts::add(tx, &name, groups, events.now).await?;
                writers.push(UserId::from(writer));
            }
            Ok((trial.thread, writers))
        })
    });
    fill.await.unwrap()
}

async fn token(stores: &Stores, owner: &UserId) -> String {
    let surface = Surface::Full;
    let scopes: Vec<_> = surface.scopes().map(|scope| scope.to_string()).collect();
    let wanted = Issue {
        owner,
        label: "",
        scopes: &scopes,
        expires_in_days: "",
    };
    let now = SystemClock.now();
    let issued = issue(&*stores.tokens, &SystemEntropy, surface, wanted, now);
    issued.await.unwrap().0.reveal().to_owned()
}

/// Writes a reply, and gives how long that took.
async fn reply(api: &ForumApi, path: &str, token: &str) -> Duration {
    let body = json!({ "body": "Two spoons of tea for a pot, and boiling water. ".repeat(5) });
    let request = Request::post(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    let start = Instant::now();
    let answer = api.clone().oneshot(request).await.unwrap();
    let took = start.elapsed();
    assert_eq!(answer.status(), StatusCode::CREATED);
    took
}
