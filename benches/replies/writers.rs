//! Members who write replies through the API.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use forum_api::model::UserId;
use forum_api::rate_limit::Budget;
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::token::{TokenRequest, issue_token};
use forum_api::{ApiSettings, ForumApi};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use crate::board::forums::{self, ForumInsert};
use crate::board::groups::{Group, Groups};
use crate::board::{ReferenceBoard, accounts, settings};
use crate::fixture::BenchFixture;
use crate::{ROUND, WARM_UP};

/// Number of concurrent members.
pub const WRITERS: usize = 64;

/// Body of each reply.
pub const TEXT: &str = "I *always* warm the pot first, then take two spoons of leaves, one for each cup, and pour the \
    water on as soon as it boils. Green sorts want less heat: let it cool for a while, or the taste will be bitter. \
    See [this list](https://tea.example/list) for times.";

/// The threads that receive the replies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    OneThread,
    /// 64 threads of 8 forums.
    Forums,
}

const FORUMS: usize = 8;

const THREADS_OF_FORUM: usize = 8;

impl Spread {
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneThread => "one thread",
            Self::Forums => "64 threads of 8 forums",
        }
    }
}

/// Members, and the threads in which they write.
pub struct Writers {
    pub threads: Arc<[i64]>,
    pub tokens: Vec<String>,
}

impl Writers {
    /// Creates the threads and the members, with flood control off.
    pub async fn on(fixture: &BenchFixture, spread: Spread) -> Self {
        let stores = fixture.storage.database.stores();
        let mut tokens = Vec::new();
        for member in members(fixture).await {
            tokens.push(token(&stores, &member).await);
        }
        let threads = threads(fixture, spread, &tokens[0]).await;
        Self { threads, tokens }
    }

    /// Writes for one round, after a warm-up; returns replies per second.
    pub async fn per_second(&self, api: &ForumApi) -> f64 {
        self.write_for(WARM_UP, api).await;
        self.write_for(ROUND, api).await
    }

    async fn write_for(&self, time: Duration, api: &ForumApi) -> f64 {
        let start = Instant::now();
        let mut writers = JoinSet::new();
        for (number, token) in self.tokens.iter().cloned().enumerate() {
            let (api, threads) = (api.clone(), self.threads.clone());
            writers.spawn(async move {
                let mut written = 0;
                while start.elapsed() < time {
                    reply(&api, nth(&threads, number + written), &token).await;
                    written += 1;
                }
                written
            });
        }
        let written: usize = writers.join_all().await.into_iter().sum();
        written as f64 / start.elapsed().as_secs_f64()
    }

    /// Writes one reply as the member with this number.
    pub async fn one(&self, api: &ForumApi, writer: usize) {
        reply(api, self.threads[0], &self.tokens[writer]).await;
    }
}

/// Returns a thread. Threads are used in turn: a member begins with the thread of the member's number, and writes each
/// further reply in the next thread.
pub fn nth(threads: &[i64], number: usize) -> i64 {
    threads[number % threads.len()]
}

/// Path of a thread's posts, without the path of the API.
pub fn path(thread: i64) -> String {
    format!("/threads/{thread}/posts")
}

/// The API of this board, with rate limits that are never reached.
pub fn api(board: ReferenceBoard) -> ForumApi {
    let (stores, board) = (board.stores(), Arc::new(board));
    let units = u32::MAX;
    let length = Duration::from_secs(300);
    let mut settings = ApiSettings::default();
    settings.token_budget = Budget {
        units,
        window: length,
    };
    let api = ForumApi::builder(board, stores);
    api.settings(settings).build().unwrap()
}

async fn members(fixture: &BenchFixture) -> Vec<UserId> {
    let groups = Groups::of([Group::Members]);
    let fill = fixture.board.write(move |tx, events| {
        Box::pin(async move {
            for (key, value) in [
                ("post.interval_seconds", "0"),
                ("post.per_hour", "4294967295"),
            ] {
                settings::named(key).unwrap().set(tx, value).await?;
            }
            let mut writers = Vec::new();
            for number in 0..WRITERS {
                let name = format!("writer{number}");
                let writer = accounts::add(tx, &name, groups, events.now).await?;
                writers.push(UserId::from(writer));
            }
            Ok(writers)
        })
    });
    fill.await.unwrap()
}

async fn forums(fixture: &BenchFixture, count: usize) -> Vec<i64> {
    let fill = fixture.board.write(move |tx, _| {
        Box::pin(async move {
            let mut forums = Vec::new();
            for number in 0..count {
                let new = ForumInsert {
                    title: format!("Forum {number}"),
                    ..ForumInsert::default()
                };
                forums.push(forums::add(tx, &new).await?);
            }
            Ok(forums)
        })
    });
    fill.await.unwrap()
}

/// Creates the threads. Those of a forum are next to each other.
async fn threads(fixture: &BenchFixture, spread: Spread, token: &str) -> Arc<[i64]> {
    let (count, of_each) = match spread {
        Spread::OneThread => (1, 1),
        Spread::Forums => (FORUMS, THREADS_OF_FORUM),
    };
    let api = api(fixture.board.clone());
    let mut threads = Vec::new();
    for forum in forums(fixture, count).await {
        for _ in 0..of_each {
            let path = format!("/forums/{forum}/threads");
            let thread = json!({ "title": "Tea", "body": TEXT });
            let answer = send(&api, &path, token, &thread).await;
            let thread: Value = serde_json::from_slice(&answer).unwrap();
            threads.push(thread["threadId"].as_str().unwrap().parse().unwrap());
        }
    }
    threads.into()
}

async fn token(stores: &Stores, owner: &UserId) -> String {
    let surface = Surface::Full;
    let scopes: Vec<_> = surface.scopes().collect();
    let wanted = TokenRequest::new(owner, &scopes);
    let now = SystemClock.now();
    let issued = issue_token(&*stores.tokens, &OsRandom, surface, wanted, now);
    issued.await.unwrap().0.expose_secret().to_owned()
}

async fn reply(api: &ForumApi, thread: i64, token: &str) {
    send(api, &path(thread), token, &json!({ "body": TEXT })).await;
}

async fn send(api: &ForumApi, path: &str, token: &str, body: &Value) -> Bytes {
    let request = Request::post(format!("/api/v1{path}"))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    let answer = api.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    answer.into_body().collect().await.unwrap().to_bytes()
}
