//! Number and plans of the statements of requests on Postgres.

use forum_api::{Environment, openapi_document};

use crate::board::db::Writer;
use crate::prelude::*;
use crate::token_loading::create_token;

const ADMINISTRATOR: i64 = 1;
const ALICE: i64 = 3;
const BOB: i64 = 4;
const NEWBIE: i64 = 6;

/// Sender, method, path and body of each request. Requests that change the board have all parts that need statements of
/// their own. The values of some lists change the estimates of the planner.
#[rustfmt::skip]
const REQUESTS: [(i64, &str, &str, &str); 37] = [
    (BOB, "GET", "/me", ""),
    (BOB, "GET", "/forums", ""),
    (BOB, "GET", "/forums/2/threads", ""),
    (BOB, "GET", "/forums/2/threads?limit=1", ""),
    (BOB, "GET", "/forums/2/threads?since=2025-12-31T00:00:00Z", ""),
    (BOB, "GET", "/threads/16", ""),
    (BOB, "GET", "/threads/16/posts", ""),
    (BOB, "GET", "/threads/16/posts?limit=1", ""),
    (BOB, "GET", "/members/@bob", ""),
    (BOB, "GET", "/members/3", ""),
    (BOB, "GET", "/subscriptions", ""),
    (BOB, "GET", "/subscriptions?target=thread", ""),
    (BOB, "GET", "/search?q=tea", ""),
    (BOB, "GET", "/search?q=tea&sort=newest&show=threads", ""),
    (BOB, "GET", "/search?q=tea&forum=2&by=@bob&when=7d", ""),
    (ALICE, "POST", "/forums/2/threads", r#"{"title":"x","body":"y","subscribe":true,"poll":{"question":"x","options":["a","b"]}}"#),
    (BOB, "POST", "/threads/{threadId}/posts", r#"{"body":"x"}"#),
    (ALICE, "POST", "/threads/{threadId}/posts", r#"{"body":"x","inReplyTo":"{postId}","subscribe":true}"#),
    (ALICE, "PATCH", "/threads/{threadId}/posts/{postId}", r#"{"body":"y"}"#),
    (BOB, "GET", "/threads/{threadId}/poll", ""),
    (ALICE, "PATCH", "/polls/{pollId}", r#"{"options":[{"optionId":"{optionId}","text":"b"},{"text":"c"}]}"#),
    (BOB, "POST", "/polls/{pollId}/votes", r#"{"optionIds":["{optionId}"]}"#),
    (BOB, "GET", "/threads/{threadId}/poll", ""),
    (BOB, "POST", "/members/@alice/reputation", r#"{"points":1,"comment":"x","postId":"{postId}"}"#),
    (ALICE, "DELETE", "/threads/{threadId}/posts/{postId}", ""),
    (ADMINISTRATOR, "DELETE", "/threads/{threadId}/posts/{firstPostId}", ""),
    (NEWBIE, "POST", "/forums/2/threads", r#"{"title":"x","body":"y"}"#),
    (BOB, "POST", "/threads/{threadId}/posts", r#"{"body":"x"}"#),
    // The thread awaits approval again.
    (NEWBIE, "PATCH", "/threads/{threadId}/posts/{firstPostId}", r#"{"title":"y","body":"z"}"#),
    (ALICE, "POST", "/messages", r#"{"to":["@bob","@newbie"],"subject":"x","body":"x","requestReceipt":true}"#),
    (ALICE, "GET", "/messages?folder=sent", ""),
    (BOB, "GET", "/messages?unread=true", ""),
    (BOB, "GET", "/messages", ""),
    (BOB, "GET", "/messages/{messageId}", ""),
    (BOB, "POST", "/subscriptions", r#"{"target":"thread","targetId":"2"}"#),
    (BOB, "POST", "/subscriptions", r#"{"target":"forum","targetId":"2"}"#),
    (BOB, "DELETE", "/subscriptions/thread/2", ""),
];

/// Fields whose last values replace their names in braces in later requests.
const IDS: [&str; 6] = ["threadId", "postId", "firstPostId", "pollId", "optionId", "messageId"];

/// Largest number of statements of a request, with `BEGIN` and `COMMIT`, if no endpoint receives events. Each is at most
/// one round trip to Postgres. The budget of the token in Redis is the thirteenth.
const MAX_STATEMENTS: i64 = 12;

/// Rounds in which Postgres chooses its plans: it compares them from the sixth execution of a statement on.
const FIRST_ROUNDS: i64 = 8;

/// Rounds in which the plans are counted.
const ROUNDS: i64 = 20;

/// The settings are those of the transaction, because the sessions of a pooler may have others.
#[test]
fn each_kind_of_transaction_has_its_settings() {
    run_with_postgres(async {
        let demo = Demo::in_postgres().await;
        let database = demo.database();
        let member = Writer::Member { thread: None };
        let settings = [
            database.write(member, |tx| Box::pin(read_settings(tx))).await,
            database.write(Writer::Operator, |tx| Box::pin(read_settings(tx))).await,
            database.write_background(|tx| Box::pin(read_settings(tx))).await,
            database.write_without_timeout(|tx| Box::pin(read_settings(tx))).await,
        ];
        assert_eq!(
            settings.map(Result::unwrap),
            [
                "force_generic_plan 10s 1500ms on t",
                "force_generic_plan 10s 1500ms on t",
                "auto 10s 1500ms off f",
                "auto 0 20s on f",
            ]
        );
    });
}

async fn read_settings(tx: &Transaction<'_>) -> BoardResult<String> {
    let read = "
        SELECT concat_ws(
            ' ', current_setting('plan_cache_mode'), current_setting('statement_timeout'),
            current_setting('idle_in_transaction_session_timeout'), current_setting('synchronous_commit'),
            (SELECT CAST(setting AS BIGINT) BETWEEN 1 AND 10000 FROM pg_settings WHERE name = 'lock_timeout')
        ) AS value";
    tx.one(read, &[], |row| row.value("value")).await
}

#[test]
fn each_operation_has_a_request() {
    let document = openapi_document(&ApiSettings::default(), &Environment::default());
    for (template, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|key| *key != "x-route") {
            let is_sent = |&(_, sent, path, _): &(i64, &str, &str, &str)| {
                sent.eq_ignore_ascii_case(method) && is_path_of(template, path)
            };
            assert!(REQUESTS.iter().any(is_sent), "{method} {template}");
        }
    }
}

/// Returns whether the path of a request, without its query, is one of a template.
fn is_path_of(template: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    template.split('/').count() == path.split('/').count()
        && template
            .split('/')
            .zip(path.split('/'))
            .all(|(expected, segment)| expected.starts_with('{') || expected == segment)
}

#[test]
fn a_request_runs_at_most_twelve_statements() {
    run_with_postgres(async {
        let mut sender = RequestSender::new().await;
        // The first request of a token records its use.
        for member in [ADMINISTRATOR, ALICE, BOB, NEWBIE] {
            sender.send(member, "GET", "/me", "").await;
        }
        for (member, method, path, body) in REQUESTS {
            let before = sender.count_statements().await;
            sender.send(member, method, path, body).await;
            let count = sender.count_statements().await - before;
            let is_allowed = (2..=MAX_STATEMENTS).contains(&count);
            assert!(is_allowed, "{method} {path}: {count}");
            sender.approve(member, method).await;
        }
    });
}

/// A read needs one statement for the token with its owner, and one for the data.
#[test]
fn a_read_runs_two_statements() {
    run_with_postgres(async {
        let mut sender = RequestSender::new().await;
        // The first request of a token records its use.
        sender.send(BOB, "GET", "/me", "").await;
        for path in ["/me", "/forums", "/forums/2/threads", "/threads/16", "/threads/16/posts"] {
            let before = sender.count_statements().await;
            sender.send(BOB, "GET", path, "").await;
            assert_eq!(sender.count_statements().await - before, 2, "{path}");
        }
    });
}

/// Postgres plans a statement again after it has collected statistics, and up to six times on a new connection, so that
/// fewer than half of the executions may be planned.
#[test]
fn no_statement_is_planned_on_each_request() {
    run_with_postgres(async {
        let mut sender = RequestSender::new().await;
        let demo = &sender.demo;
        demo.add_endpoint().await;
        demo.generate(ContentSize { members: 50, threads: 2_000, posts: 5_000 }).await;
        demo.set(settings::RATINGS_PER_DAY.key, "100").await;
        demo.sql("ANALYZE").await;
        for round in 0..=FIRST_ROUNDS + ROUNDS {
            if round == 1 {
                // Each connection has its own plans. Those of the first round are made for tables that are still empty.
                sender.demo.pool().resize(0);
                sender.demo.pool().resize(1);
            }
            if round == 1 + FIRST_ROUNDS {
                let reset = "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()";
                sender.demo.sql(reset).await;
            }
            if round == 2 * FIRST_ROUNDS {
                // Postgres also collects statistics of a single table, which then are newer than those of the others.
                sender.demo.sql("ANALYZE poll_option").await;
                sender.demo.sql("ANALYZE ballot").await;
            }
            for (member, method, path, body) in REQUESTS {
                sender.send(member, method, path, body).await;
                sender.approve(member, method).await;
            }
            sender.demo.run_batches().await;
            sender.demo.advance(3600);
        }
        let counts = "
            SELECT query, plans, calls FROM pg_stat_statements JOIN pg_database ON oid = dbid
            WHERE datname = current_database() AND calls >= $1";
        let client = sender.demo.pool().get().await.unwrap();
        let rows = client.query(counts, &[&ROUNDS]).await.unwrap();
        assert!(rows.len() > 40, "{} statements", rows.len());
        for row in rows {
            let plans: i64 = row.get("plans");
            let calls: i64 = row.get("calls");
            let query: String = row.get("query");
            assert!(plans * 2 < calls, "{plans} plans in {calls} calls: {query}");
        }
    });
}

struct RequestSender {
    demo: Demo,
    api: TestApi,
    tokens: HashMap<i64, String>,
    ids: HashMap<&'static str, String>,
    /// Number of the requests that were sent, which are their idempotency keys.
    sent: u32,
}

impl RequestSender {
    async fn new() -> Self {
        let demo = Demo::in_postgres().await;
        demo.set(settings::POST_INTERVAL.key, "0").await;
        demo.track_statements(16).await;
        let board = Arc::new(demo.board.clone());
        let stores = board.database.stores();
        let api = api_of(board, stores, ApiSettings::default(), &demo.clock);
        let mut tokens = HashMap::new();
        for member in [ADMINISTRATOR, ALICE, BOB, NEWBIE] {
            tokens.insert(member, create_token(demo.database(), member).await);
        }
        Self { demo, api, tokens, ids: HashMap::new(), sent: 0 }
    }

    async fn send(&mut self, member: i64, method: &str, path: &str, body: &str) {
        let path = self.with_ids(path);
        let body = self.with_ids(body);
        self.sent += 1;
        let client = self.api.client(self.tokens.get(&member).cloned());
        let response = client
            .request(method.parse().unwrap(), &path)
            .body(body)
            .header("content-type", "application/json")
            .header("idempotency-key", &self.sent.to_string())
            .await;
        assert!(response.status < 300, "{method} {path}: {response:?}");
        let json = response.json();
        for name in IDS {
            let found = [&json[name], &json["items"][0][name], &json["options"][1][name]];
            let id = found.into_iter().find_map(|id| id.as_str());
            self.ids.extend(id.map(|id| (name, id.to_owned())));
        }
    }

    /// Replaces the names of [`IDS`] in braces by their last values.
    fn with_ids(&self, text: &str) -> String {
        let mut replaced = text.to_owned();
        for (name, id) in &self.ids {
            replaced = replaced.replace(&format!("{{{name}}}"), id);
        }
        replaced
    }

    /// Approves the thread that the newcomer has started with this request.
    async fn approve(&self, member: i64, method: &str) {
        if (member, method) == (NEWBIE, "POST") {
            let post = self.ids["firstPostId"].parse().unwrap();
            self.demo.approve(post).await.unwrap();
        }
    }

    /// Returns the number of statements of the sender's requests. No request waits for a rollback.
    async fn count_statements(&self) -> i64 {
        let count = "
            SELECT CAST(sum(calls) AS BIGINT) FROM pg_stat_statements JOIN pg_database ON oid = dbid
            WHERE datname = current_database() AND query !~ '^SET LOCAL|^ROLLBACK|pg_stat_statements'";
        let client = self.demo.pool().get().await.unwrap();
        client.query_one(count, &[]).await.unwrap().get(0)
    }
}
