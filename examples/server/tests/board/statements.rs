//! Number of SQL statements of each request, which does not grow with the content of the board.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex, Once};
use std::thread::{self, ThreadId};

use forum_api::model::{Timestamp, UserId};
use forum_api::runtime::{ManualClock, SeededRandom};
use forum_api::scope::Surface;
use forum_api::test_util::{TestApi, TestClient, TestResponse, audit_entry};
use forum_api::token::{TokenRequest, issue_token};
use forum_api::{ApiSettings, Language};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::backend::{Backend, Storage};
use crate::board::ReferenceBoard;
use crate::board::db::BoardDatabase;
use crate::board::generate::{self, ContentSize};
use crate::demo::api_of;

/// Requests of the moderator, with their maximum number of statements. One statement finds the token and its owner.
/// Before a write, another statement finds the forum. If an endpoint is enabled, one statement reads the data of the
/// events (not for a message), and one statement writes each event. The second number counts the statements that lock
/// rows, on Postgres only, less those that Postgres runs as one. `{}` is a post of thread 16, and `{message}` the last
/// message that was sent.
pub const REQUESTS: [(&str, &str, &str, [usize; 2]); 23] = [
    ("GET", "/me", "", [2, 0]),
    ("GET", "/forums", "", [2, 0]),
    ("GET", "/forums/2/threads", "", [2, 0]),
    ("GET", "/threads/16", "", [2, 0]),
    ("GET", "/threads/16/posts", "", [2, 0]),
    ("GET", "/members/@bob", "", [2, 0]),
    ("GET", "/subscriptions", "", [2, 0]),
    ("GET", "/search?q=tea", "", [5, 0]),
    ("GET", "/search?q=tea&sort=newest&show=threads", "", [4, 0]),
    ("GET", "/search?q=tea&forum=2&by=@bob&when=7d", "", [8, 0]),
    (
        "POST",
        "/forums/2/threads",
        r#"{"title":"x","body":"y"}"#,
        [9, 0],
    ),
    ("POST", "/threads/16/posts", r#"{"body":"x"}"#, [9, 0]),
    ("PATCH", "/threads/16/posts/{}", r#"{"body":"y"}"#, [7, 1]),
    ("DELETE", "/threads/16/posts/{}", "", [10, 1]),
    (
        "POST",
        "/subscriptions",
        r#"{"target":"forum","targetId":"2"}"#,
        [4, 1],
    ),
    ("DELETE", "/subscriptions/forum/2", "", [3, 1]),
    ("GET", "/threads/16/poll", "", [2, 0]),
    ("PATCH", "/polls/1", r#"{"canChangeVote":true}"#, [10, 1]),
    ("POST", "/polls/1/votes", r#"{"optionIds":["1"]}"#, [10, 0]),
    (
        "POST",
        "/members/{who}/reputation",
        r#"{"points":1,"comment":"x"}"#,
        [9, 0],
    ),
    (
        "POST",
        "/messages",
        r#"{"to":["@alice"],"subject":"x","body":"x"}"#,
        [10, 0],
    ),
    ("GET", "/messages?folder=sent", "", [2, 0]),
    ("GET", "/messages/{message}", "", [2, 0]),
];

#[tokio::test]
async fn no_request_costs_more_statements_than_its_maximum() {
    let (storage, board, api) = demo().await;
    let moderator = api.client(Some(token(&storage.database).await));
    for (method, path, body) in [
        ("GET", "/me", ""),
        ("PATCH", "/polls/1", r#"{"canChangeVote":true}"#),
        ("POST", "/polls/1/votes", r#"{"optionIds":["2"]}"#),
    ] {
        let first = send(&moderator, method, path, body).await;
        assert!(first.status < 300, "warm-up: {first:?}");
    }
    let mut message = String::new();
    let thread = board
        .read(|_| Box::pin(async { Ok(thread::current().id()) }))
        .await
        .unwrap();
    for (post, who, is_subscribed) in [("61", "@alice", false), ("64", "@bob", true)] {
        if is_subscribed {
            storage.add_endpoint().await;
        }
        for (method, path, body, [expected, locks]) in REQUESTS {
            let named = path.replace("{}", post).replace("{who}", who);
            take_statements(thread);
            let answer = send(
                &moderator,
                method,
                &named.replace("{message}", &message),
                body,
            )
            .await;
            let statements = take_statements(thread);
            let expected = match storage.database {
                BoardDatabase::Sqlite(_) => expected,
                BoardDatabase::Postgres(_) => expected + locks,
            };
            let has_event = statements
                .iter()
                .any(|sql| sql.contains("forum_api_events"));
            if !is_subscribed || (method, path) == ("POST", "/threads/16/posts") {
                assert_eq!(has_event, is_subscribed, "{method} {path}: {statements:#?}");
            }
            assert!(
                (200..300).contains(&answer.status),
                "{method} {path}: {answer:?}"
            );
            if let Some(sent) = answer.json()["messageId"].as_str() {
                message = sent.into();
            }
            assert!(
                statements.len() <= expected,
                "{method} {path}: {statements:#?}"
            );
        }
        let amount = ContentSize {
            members: 2,
            threads: 50,
            posts: 500,
        };
        generate::run(&board, amount, 1, audit_entry(), |_| ())
            .await
            .unwrap();
    }
}

pub async fn send(client: &TestClient<'_>, method: &str, path: &str, body: &str) -> TestResponse {
    let body = serde_json::from_str(body).unwrap_or_default();
    let request = match method {
        "GET" => client.get(path),
        "POST" => client.post(path, &body),
        "PATCH" => client.patch(path, &body),
        _ => client.delete(path),
    };
    request.await
}

async fn demo() -> (Storage, Arc<ReferenceBoard>, TestApi) {
    record_statements();
    let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
    let storage = Backend::Memory.or_from_environment().create_storage().await;
    let board = Arc::new(storage.demo(clock.clone(), Language::English).await);
    let stores = board.stores();
    let settings = ApiSettings::default();
    let api = api_of(board.clone(), stores, settings, &clock);
    (storage, board, api)
}

/// Issues a token of mod with all scopes.
pub async fn token(database: &BoardDatabase) -> String {
    let owner = UserId::from(2);
    let scopes = Vec::from_iter(Surface::Full.scopes());
    let request = TokenRequest::new(&owner, &scopes).label("test");
    let stores = database.stores();
    let now = Timestamp::from_millis(1_767_225_600_000);
    let issued = issue_token(
        &*stores.tokens,
        &SeededRandom::default(),
        Surface::Full,
        request,
        now,
    )
    .await;
    issued.unwrap().0.expose_secret().to_owned()
}

/// The statements of each thread of a database.
static STATEMENTS: LazyLock<Mutex<HashMap<ThreadId, Vec<String>>>> = LazyLock::new(Mutex::default);

/// Records the statements of all databases that are opened from now on.
pub fn record_statements() {
    static RECORD: Once = Once::new();
    RECORD.call_once(|| {
        tracing_subscriber::registry()
            .with(StatementRecorder)
            .init()
    });
}

/// Takes the statements of a thread since the last call.
pub fn take_statements(thread: ThreadId) -> Vec<String> {
    STATEMENTS
        .lock()
        .unwrap()
        .remove(&thread)
        .unwrap_or_default()
}

struct StatementRecorder;

impl<S: Subscriber> Layer<S> for StatementRecorder {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Statement);
    }
}

struct Statement;

impl Visit for Statement {
    /// Records a statement. Ignores transaction control, and statements that the search index runs on its own tables.
    fn record_str(&mut self, field: &Field, sql: &str) {
        let word = sql.split_whitespace().next().unwrap_or_default();
        let transaction_control = ["BEGIN", "SAVEPOINT", "RELEASE", "COMMIT"];
        if field.name() == "sql"
            && !transaction_control.contains(&word)
            && !sql.contains("'main'.'")
        {
            let mut threads = STATEMENTS.lock().unwrap();
            let statements = threads.entry(thread::current().id()).or_default();
            statements.push(sql.into());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
