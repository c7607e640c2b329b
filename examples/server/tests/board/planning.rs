//! Plans of the statements of requests on Postgres.

use std::sync::Arc;

use forum_api::test_util::{TestClient, TestResponse};
use forum_api::{ApiSettings, Language};

use crate::backend::Backend;
use crate::board::generate::ContentSize;
use crate::board::settings;
use crate::demo::{Demo, api_of, body};
use crate::postgres::run_with_postgres;
use crate::token_loading::token;

/// Requests of the moderator. `{post}` is the last post of thread 16, and `{message}` the last message.
const REQUESTS: [(&str, &str, &str); 23] = [
    ("GET", "/me", ""),
    ("GET", "/forums", ""),
    ("GET", "/forums/2/threads", ""),
    ("GET", "/threads/16", ""),
    ("GET", "/threads/16/posts", ""),
    ("GET", "/members/@bob", ""),
    ("GET", "/subscriptions", ""),
    ("GET", "/search?q=tea", ""),
    ("GET", "/search?q=tea&sort=newest&show=threads", ""),
    ("GET", "/search?q=tea&forum=2&by=@bob&when=7d", ""),
    ("POST", "/forums/2/threads", r#"{"title":"x","body":"y"}"#),
    ("POST", "/threads/16/posts", r#"{"body":"x"}"#),
    ("PATCH", "/threads/16/posts/{post}", r#"{"body":"y"}"#),
    ("DELETE", "/threads/16/posts/{post}", ""),
    (
        "POST",
        "/subscriptions",
        r#"{"target":"forum","targetId":"2"}"#,
    ),
    ("DELETE", "/subscriptions/forum/2", ""),
    ("GET", "/threads/16/poll", ""),
    ("PATCH", "/polls/1", r#"{"canChangeVote":true}"#),
    ("POST", "/polls/1/votes", r#"{"optionIds":["1"]}"#),
    (
        "POST",
        "/members/@bob/reputation",
        r#"{"points":1,"comment":"x"}"#,
    ),
    (
        "POST",
        "/messages",
        r#"{"to":["@alice"],"subject":"x","body":"x"}"#,
    ),
    ("GET", "/messages?folder=sent", ""),
    ("GET", "/messages/{message}", ""),
];

/// Rounds in which Postgres chooses its plans: it compares them from the sixth execution of a statement on.
const FIRST_ROUNDS: i64 = 8;

/// Rounds in which the plans are counted.
const ROUNDS: i64 = 20;

/// Lists whose values change the estimates of the planner, and other statements than those of [`REQUESTS`].
const OTHERS: [&str; 6] = [
    "/forums/2/threads?limit=1",
    "/forums/2/threads?since=2025-12-31T00:00:00Z",
    "/threads/16/posts?limit=1",
    "/members/3",
    "/messages?unread=true",
    "/subscriptions?target=thread",
];

/// Postgres plans a statement again after it has collected statistics, and up to six times on a new connection, so that
/// fewer than half of the executions may be planned.
#[test]
fn no_statement_is_planned_on_each_request() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        storage.add_endpoint().await;
        let token = token(&storage.database).await;
        let demo = Demo::in_storage(storage, Language::English).await;
        let amount = ContentSize {
            members: 50,
            threads: 2_000,
            posts: 5_000,
        };
        demo.generate(amount).await;
        demo.set(settings::POST_INTERVAL.key, "0").await;
        demo.sql("CREATE EXTENSION pg_stat_statements").await;
        demo.sql("ANALYZE").await;
        // Each connection has its own plans.
        demo.pool().resize(1);
        let board = Arc::new(demo.board.clone());
        let stores = board.stores();
        let api = api_of(board, stores, ApiSettings::default(), &demo.clock);
        let client = api.client(Some(token));
        for round in 0..FIRST_ROUNDS + ROUNDS {
            if round == FIRST_ROUNDS {
                let reset = "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()";
                demo.sql(reset).await;
            }
            send_each_request(&client, round).await;
            demo.advance(3600);
        }
        let counts = "
            SELECT query, plans, calls FROM pg_stat_statements JOIN pg_database ON oid = dbid
            WHERE datname = current_database() AND calls >= $1";
        let client = demo.pool().get().await.unwrap();
        let rows = client.query(counts, &[&ROUNDS]).await.unwrap();
        assert!(rows.len() > 40, "{} statements", rows.len());
        for row in rows {
            let (plans, calls): (i64, i64) = (row.get("plans"), row.get("calls"));
            let query: String = row.get("query");
            assert!(plans * 2 < calls, "{plans} plans in {calls} calls: {query}");
        }
    });
}

async fn send_each_request(client: &TestClient<'_>, round: i64) {
    let keyed = client.post("/threads/16/posts", &body("x"));
    let keyed = keyed.header("idempotency-key", &round.to_string()).await;
    assert_eq!(keyed.status, 201, "{keyed:?}");
    let mut post = String::new();
    let mut message = String::new();
    for (method, path, body) in REQUESTS {
        let path = path.replace("{post}", &post).replace("{message}", &message);
        let response = send(client, method, &path, body).await;
        let is_rated = response.status == 409 && path.ends_with("/reputation");
        assert!(
            response.status < 300 || is_rated,
            "{method} {path}: {response:?}"
        );
        for (field, id) in [("postId", &mut post), ("messageId", &mut message)] {
            if let Some(new) = response.json()[field].as_str() {
                *id = new.into();
            }
        }
    }
    for path in OTHERS {
        assert_eq!(client.get(path).await.status, 200, "{path}");
    }
}

async fn send(client: &TestClient<'_>, method: &str, path: &str, body: &str) -> TestResponse {
    let body = serde_json::from_str(body).unwrap_or_default();
    let request = match method {
        "GET" => client.get(path),
        "POST" => client.post(path, &body),
        "PATCH" => client.patch(path, &body),
        _ => client.delete(path),
    };
    request.await
}
