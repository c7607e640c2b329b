//! Members who write replies through the API.

use std::sync::Arc;

use bytes::Bytes;
use forum_api::model::UserId;
use forum_api::{ApiSettings, ForumApi};
use forum_benches::fixture::{BenchFixture, issue};
use forum_server::board::access::groups::{Group, Groups};
use forum_server::board::forums::{self, ForumInsert};
use forum_server::board::{accounts, settings};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::bare::{self, WRITERS};

const FORUMS: usize = 8;

const THREADS_OF_FORUM: usize = 8;

/// Body of each reply.
const TEXT: &str = "I *always* warm the pot first, then take two spoons of leaves, one for each cup, and pour the \
    water on as soon as it boils. Green sorts want less heat: let it cool for a while, or the taste will be bitter. \
    See [this list](https://tea.example/list) for times.";

/// The API, the tokens of its members, and the threads in which they write.
#[derive(Clone)]
pub struct Writers {
    api: ForumApi,
    tokens: Arc<[String]>,
    threads: Arc<[i64]>,
}

impl Writers {
    /// Creates the members and the threads, with flood control off and rate limits that are never reached. Writes the
    /// first reply.
    pub async fn new(fixture: &BenchFixture) -> Self {
        let stores = fixture.board.database.stores();
        let board = Arc::new(fixture.board.clone());
        let mut tokens = Vec::new();
        for member in members(fixture).await {
            tokens.push(issue(&*stores.tokens, &member).await);
        }
        let mut settings = ApiSettings::default();
        settings.token_budget.units = u32::MAX;
        let api = ForumApi::builder(board, stores);
        let mut writers = Self {
            api: api.settings(settings).build().unwrap(),
            tokens: tokens.into(),
            threads: [].into(),
        };
        let mut threads = Vec::new();
        for forum in forums(fixture).await {
            for _ in 0..THREADS_OF_FORUM {
                let path = format!("/forums/{forum}/threads");
                let new = json!({ "title": "Tea", "body": TEXT });
                let thread = writers.send(&path, 0, &new).await;
                threads.push(thread["threadId"].as_str().unwrap().parse().unwrap());
            }
        }
        writers.threads = threads.into();
        writers.reply(0, 0).await;
        writers
    }

    /// Writes for one round, after a warm-up; returns replies per second.
    pub async fn per_second(&self) -> f64 {
        let writers = self.clone();
        bare::per_second(move |writer, number| {
            let writers = writers.clone();
            async move { writers.reply(writer, number).await }
        })
        .await
    }

    async fn reply(&self, writer: usize, number: usize) {
        let thread = self.threads[number % self.threads.len()];
        let path = format!("/threads/{thread}/posts");
        self.send(&path, writer, &json!({ "body": TEXT })).await;
    }

    async fn send(&self, path: &str, writer: usize, body: &Value) -> Value {
        let request = Request::post(format!("/api/v1{path}"))
            .header("authorization", format!("Bearer {}", self.tokens[writer]))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .unwrap();
        let answer = self.api.respond(request).await;
        assert_eq!(answer.status(), StatusCode::CREATED);
        let body = answer.into_body().into_bytes();
        serde_json::from_slice(&body).unwrap()
    }
}

async fn members(fixture: &BenchFixture) -> Vec<UserId> {
    let groups = Groups::of([Group::Members]);
    fixture
        .board
        .write(move |tx, events| {
            Box::pin(async move {
                for (key, value) in [("post.interval_seconds", "0"), ("post.per_hour", "1000000")] {
                    settings::find(key).unwrap().set(tx, value).await?;
                }
                let mut writers = Vec::new();
                for number in 0..WRITERS {
                    let name = format!("writer{number}");
                    let writer = accounts::add(tx, &name, groups, events.now).await?;
                    writers.push(UserId::from(writer));
                }
                Ok(writers)
            })
        })
        .await
        .unwrap()
}

async fn forums(fixture: &BenchFixture) -> Vec<i64> {
    fixture
        .board
        .write(|tx, _| {
            Box::pin(async move {
                let mut forums = Vec::new();
                for number in 0..FORUMS {
                    let new =
                        ForumInsert { title: format!("Forum {number}"), ..ForumInsert::default() };
                    forums.push(forums::add(tx, new).await?);
                }
                Ok(forums)
            })
        })
        .await
        .unwrap()
}
