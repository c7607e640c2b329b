//! Plans of the statements of requests on Postgres.

use std::sync::Arc;

use forum_api::test_util::TestClient;
use forum_api::{ApiSettings, Language};
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::board::generate::ContentSize;
use crate::board::settings;
use crate::demo::{Demo, api_of};
use crate::postgres::run_with_postgres;
use crate::statements::token;

/// Rounds in which Postgres chooses its plans: it compares them from the sixth execution of a statement on.
const FIRST_ROUNDS: usize = 8;

/// Rounds in which the plans are counted.
const ROUNDS: i64 = 20;

const READS: [&str; 20] = [
    "/me",
    "/forums",
    "/forums/2/threads",
    "/forums/2/threads?limit=1",
    "/forums/2/threads?since=2025-12-31T00:00:00Z",
    "/threads/16",
    "/threads/16/posts",
    "/threads/16/posts?limit=1",
    "/threads/16/posts?since=2025-12-31T00:00:00Z",
    "/threads/16/poll",
    "/members/@bob",
    "/members/3",
    "/subscriptions",
    "/subscriptions?target=thread",
    "/messages",
    "/messages?folder=sent",
    "/messages?unread=true",
    "/search?q=tea",
    "/search?q=tea&sort=newest&show=threads",
    "/search?q=tea&forum=2&by=@bob&when=7d",
];

/// Postgres replans a statement after it has collected statistics, so that few executions may be planned.
#[test]
fn no_statement_is_planned_on_each_request() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        storage.add_endpoint().await;
        let token = token(&storage.database).await;
        let demo = Demo::in_storage(storage, Language::English).await;
        demo.generate(ContentSize {
            members: 50,
            threads: 2_000,
            posts: 5_000,
        })
        .await;
        demo.set(settings::POST_INTERVAL.key, "0").await;
        demo.sql("CREATE EXTENSION pg_stat_statements").await;
        demo.sql("ANALYZE").await;
        // Each connection has its own plans.
        demo.pool().resize(1);
        let board = Arc::new(demo.board.clone());
        let stores = board.stores();
        let api = api_of(board, stores, ApiSettings::default(), &demo.clock);
        let client = api.client(Some(token));
        for round in 0..FIRST_ROUNDS {
            send_each_request(&client, round).await;
            demo.advance(3600);
        }
        let reset = "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()";
        demo.sql(reset).await;
        for round in 0..ROUNDS as usize {
            send_each_request(&client, FIRST_ROUNDS + round).await;
            demo.advance(3600);
        }
        let counts = "
            SELECT query, plans, calls FROM pg_stat_statements JOIN pg_database ON oid = dbid
            WHERE datname = current_database() AND calls >= $1 AND query NOT LIKE 'SET%' AND query NOT LIKE 'BEGIN%'";
        let pool = demo.pool();
        let connection = pool.get().await.unwrap();
        let rows = connection.query(counts, &[&ROUNDS]).await.unwrap();
        assert!(rows.len() > 40, "{} statements", rows.len());
        for row in rows {
            let [plans, calls]: [i64; 2] = [row.get("plans"), row.get("calls")];
            let statement: String = row.get("query");
            assert!(
                plans * 10 <= calls,
                "{plans} plans in {calls} calls: {statement}"
            );
        }
    });
}

async fn send_each_request(client: &TestClient<'_>, round: usize) {
    for path in READS {
        assert_eq!(client.get(path).await.status, 200, "{path}");
    }
    let text = json!({ "body": format!("Round {round}") });
    let thread = json!({ "title": "x", "body": "x" });
    let message = json!({ "to": ["@alice"], "subject": "x", "body": "x" });
    let rating = json!({ "points": 1, "comment": "x" });
    let vote = json!({ "optionIds": [(1 + round % 2).to_string()] });
    let poll = json!({ "canChangeVote": true, "question": format!("Round {round}?") });
    let post = client
        .post("/threads/16/posts", &text)
        .header("idempotency-key", &format!("round-{round}"))
        .await;
    let id = post.json()["postId"].clone();
    let post = format!("/threads/16/posts/{}", id.as_str().unwrap());
    let thread_subscription = json!({ "target": "thread", "targetId": "16" });
    for (method, path, body) in [
        ("POST", "/forums/2/threads", &thread),
        ("PATCH", "/threads/16/posts/61", &text),
        ("DELETE", &post, &Value::Null),
        ("PATCH", "/polls/1", &poll),
        ("POST", "/polls/1/votes", &vote),
        ("POST", "/members/@bob/reputation", &rating),
        ("POST", "/messages", &message),
        ("POST", "/subscriptions", &thread_subscription),
        ("DELETE", "/subscriptions/thread/16", &Value::Null),
    ] {
        let response = match method {
            "POST" => client.post(path, body).await,
            "PATCH" => client.patch(path, body).await,
            _ => client.delete(path).await,
        };
        assert!(
            response.status < 300 || response.status == 409,
            "{method} {path}: {response:?}"
        );
    }
}
