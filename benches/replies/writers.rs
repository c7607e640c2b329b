//! Members who write replies through the API.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use forum_api::ForumApi;
use forum_api::model::UserId;
use forum_api::rate_limit::Budget;
use forum_api::runtime::{Clock, OsRandom, SystemClock, TokioRuntime};
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::token::{TokenRequest, issue_token};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::json;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use crate::ROUND;
use crate::board::groups::{Group, Groups};
use crate::board::{ReferenceBoard, accounts, demo, settings};
use crate::fixture::BenchFixture;

/// Number of concurrent members.
pub const WRITERS: usize = 64;

/// Body of each reply.
pub const TEXT: &str = "I *always* warm the pot first, then take two spoons of leaves, one for each cup, and pour the \
    water on as soon as it boils. Green sorts want less heat: let it cool for a while, or the taste will be bitter. \
    See [this list](https://tea.example/list) for times.";

/// Members who write in one thread.
pub struct Writers {
    path: String,
    pub tokens: Vec<String>,
}

impl Writers {
    /// Creates the members on the demo board, with flood control off.
    pub async fn on(rig: &BenchFixture) -> Self {
        let (thread, members) = people(rig).await;
        let stores = rig.place.database.stores();
        let mut tokens = Vec::new();
        for member in members {
            tokens.push(token(&stores, &member).await);
        }
        Self {
            path: format!("/api/v1/threads/{thread}/posts"),
            tokens,
        }
    }

    /// Writes for this time; returns replies per second.
    pub async fn per_second(&self, api: &ForumApi) -> f64 {
        let start = Instant::now();
        let mut writers = JoinSet::new();
        for token in self.tokens.clone() {
            let (api, path) = (api.clone(), self.path.clone());
            writers.spawn(async move {
                let mut written = 0;
                while start.elapsed() < ROUND {
                    reply(&api, &path, &token).await;
                    written += 1;
                }
                written
            });
        }
        let written: u32 = writers.join_all().await.into_iter().sum();
        f64::from(written) / start.elapsed().as_secs_f64()
    }

    /// The path of the thread's posts, without that of the API.
    pub fn path(&self) -> &str {
        self.path.trim_start_matches("/api/v1")
    }

    /// Writes one reply as one member.
    pub async fn one(&self, api: &ForumApi) {
        reply(api, &self.path, &self.tokens[0]).await;
    }
}

/// The API of this board, with rate limits that are never reached.
pub fn api(rig: &BenchFixture, board: ReferenceBoard) -> ForumApi {
    let (board, stores) = (Arc::new(board), rig.place.database.stores());
    let units = u32::MAX;
    let length = Duration::from_secs(300);
    ForumApi::builder(board, stores, TokioRuntime)
        .token_budget(Budget {
            units,
            window: length,
        })
        .build()
        .unwrap()
}

/// A thread and its writers.
async fn people(rig: &BenchFixture) -> (i64, Vec<UserId>) {
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
    let scopes: Vec<_> = surface.scopes().collect();
    let wanted = TokenRequest::new(owner, &scopes);
    let now = SystemClock.now();
    let issued = issue_token(&*stores.tokens, &OsRandom, surface, wanted, now);
    issued.await.unwrap().0.expose_secret().to_owned()
}

async fn reply(api: &ForumApi, path: &str, token: &str) {
    let request = Request::post(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(json!({ "body": TEXT }).to_string())))
        .unwrap();
    let answer = api.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
}
