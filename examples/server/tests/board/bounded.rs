//! Work of each statement of requests and of operators' commands, on a small board and on one with ten times as much content:
//! the cost does not grow with the content of the board. The Postgres board is as a fresh copy: it has no statistics.

use std::collections::BTreeMap;
use std::iter;

use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::{Client, Pool};
use forum_api::store::sqlite::{Database, SqliteError};
use forum_api::test_util::TestResponse;
use forum_test_support::thread_log;

use crate::board::posts::moderation::{PostsOfMember, ThreadFlag};
use crate::prelude::*;

/// Number of threads of the small board, and of replies of its long thread.
const SMALL: u32 = 2_000;

/// Number of threads of the large board, and of replies of its long thread.
const LARGE: u32 = 20_000;

/// Rounds of requests before the measured ones. Postgres chooses its plans in the first five executions of a statement.
const FIRST_ROUNDS: u32 = 6;

/// Measured rounds. The work of a statement is the least of them: on Postgres, an update reads more pages if earlier versions
/// of its rows cannot be removed yet.
const MEASURED_ROUNDS: u32 = 3;

/// Id of the long thread and of its first post. Larger ids follow the order of the threads and the replies.
const LONG_THREAD: i64 = 1_000_000;

/// Fills the board: a long thread of General with replies of many members and a poll with many voters, and threads with one
/// post. The newer half of the threads and the middle of the replies are deleted, or wait. Bob has many messages, and follows
/// all hidden threads.
const FILL: &str = "
    INSERT INTO member (id, username, groups, joined_at)
    SELECT 1000000 + n, 'writer' || n, 'members', 0 FROM number WHERE n <= {size} / 10;

    INSERT INTO thread (
        id, forum_id, title, title_words, author_id, state, created_at, last_activity_at, newest_at, first_post_id,
        last_post_id, last_author_id, last_number
    )
    SELECT
        1000000 + n, forum.id, 'tea ' || n, 'tea ' || n, member.id,
        CASE WHEN n <= {size} / 2 THEN 'visible' WHEN n % 5 = 0 THEN 'awaiting_approval' ELSE 'deleted' END,
        1700000000000 + n, 1700000000000 + n, 1700000000000 + n, 1000000 + n, 1000000 + n, member.id, 1
    FROM (SELECT 0 AS n UNION ALL SELECT n FROM number) AS number
    JOIN forum ON forum.title = 'General' JOIN member ON member.username = 'alice';

    INSERT INTO post (
        id, thread_id, number, author_id, state, created_at, written_at, body, body_html, body_words, published
    )
    SELECT id, id, 1, author_id, state, created_at, created_at, 'tea', 'tea', 'tea', state <> 'awaiting_approval'
    FROM thread WHERE id >= 1000000;

    INSERT INTO post (
        id, thread_id, number, author_id, state, created_at, written_at, body, body_html, body_words, published
    )
    SELECT
        2000000 + n, 1000000, 1 + n, 1000001 + n % ({size} / 10),
        CASE
            WHEN n * 4 < {size} OR n * 4 > {size} * 3 THEN 'visible'
            WHEN n % 5 = 0 THEN 'awaiting_approval' ELSE 'deleted'
        END,
        1710000000000 + n, 1710000000000 + n, 'tea', 'tea', 'tea',
        n % 5 <> 0 OR n * 4 < {size} OR n * 4 > {size} * 3
    FROM number;

    UPDATE thread SET
        last_number = 1 + {size}, last_post_id = 2000000 + {size}, last_activity_at = 1710000000000 + {size},
        newest_at = 1710000000000 + {size}, last_author_id = 1000001,
        reply_count = (
            SELECT count(*) FROM post WHERE thread_id = 1000000 AND number > 1 AND state = 'visible'
        )
    WHERE id = 1000000;

    INSERT INTO thread_author (thread_id, author_id, post_count, counted)
    SELECT thread_id, author_id, count(*), count(*)
    FROM post WHERE thread_id = 1000000 AND state = 'visible' GROUP BY thread_id, author_id;

    UPDATE forum_count SET thread_count = 1000000, post_count = 1000000;

    INSERT INTO poll (id, thread_id, question, max_choices, can_change_vote, voters)
    VALUES (1000000, 1000000, 'tea', 2, TRUE, {size} / 10);
    INSERT INTO poll_option (id, poll_id, position, text, votes)
    SELECT 1000000 + n, 1000000, n, 'tea ' || n, {size} / 10 FROM number WHERE n <= 20;
    INSERT INTO ballot (id, poll_id, member_id, choices)
    SELECT 1000000 + n, 1000000, 1000000 + n, 20 FROM number WHERE n <= {size} / 10;
    INSERT INTO vote (ballot_id, option_id)
    SELECT ballot.id, poll_option.id FROM ballot CROSS JOIN poll_option
    WHERE ballot.id >= 1000000 AND poll_option.id >= 1000000;

    INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
    SELECT member.id, thread.forum_id, 'thread', thread.id, thread.created_at
    FROM thread JOIN member ON member.username = 'bob' WHERE thread.id > 1000000 AND thread.state <> 'visible';

    INSERT INTO message (id, sender_id, subject, body, body_html, receipt_requested)
    SELECT 1000000 + n, member.id, 'tea', 'tea', 'tea', FALSE
    FROM number JOIN member ON member.username = 'alice';
    INSERT INTO message_copy (message_id, owner_id, folder, sent_at)
    SELECT message.id, member.id, 'inbox', 1700000000000 + message.id
    FROM message JOIN member ON member.username = 'bob' WHERE message.id >= 1000000;
    UPDATE member SET unread_count = unread_count + {size} WHERE username = 'bob'";

/// Work of each statement, by the request and the statement: steps of SQLite's virtual machine, or pages that Postgres read
/// or found in its memory.
type Work = BTreeMap<[String; 2], i64>;

/// Counts the work of the statements since the last call.
enum WorkCounter {
    /// The total steps of each statement.
    Sqlite(Database, HashMap<String, i64>),
    Postgres(Client, Pool),
}

impl WorkCounter {
    async fn new(demo: &Demo) -> Self {
        match demo.database() {
            BoardDatabase::Sqlite(database) => Self::Sqlite(database.clone(), HashMap::new()),
            BoardDatabase::Postgres(_) => {
                // Each connection has its own plans.
                demo.track_statements(2).await;
                let client = demo.pool().get().await.unwrap();
                Self::Postgres(client, demo.pool().clone())
            }
        }
    }

    async fn take(&mut self) -> BTreeMap<String, i64> {
        match self {
            Self::Sqlite(database, totals) => {
                let log =
                    database.read(|_| Ok::<_, SqliteError>(thread_log::take())).await.unwrap();
                let mut work = BTreeMap::new();
                for (steps, sql) in log.lines().filter_map(executed_statement) {
                    let total = totals.insert(sql.clone(), steps).unwrap_or(0);
                    // The count begins again when the statement is prepared again.
                    let added = if steps < total { steps } else { steps - total };
                    *work.entry(sql).or_insert(0) += added;
                }
                work
            }
            Self::Postgres(client, pool) => {
                // A read does not wait for the end of its transaction, which counts its last statement.
                pool.get().await.unwrap().batch_execute("").await.unwrap();
                let count = "
                    SELECT query, CAST(sum(shared_blks_hit + shared_blks_read) AS BIGINT) AS pages
                    FROM pg_stat_statements JOIN pg_database ON oid = dbid
                    WHERE datname = current_database() AND query NOT LIKE '%pg_stat_statements%' GROUP BY query";
                let rows = client.query(count, &[]).await.unwrap();
                let reset = "
                    SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()";
                client.execute(reset, &[]).await.unwrap();
                rows.iter().map(|row| (row.get("query"), row.get("pages"))).collect()
            }
        }
    }
}

/// Reads a line of the log of a statement that a request or a trigger has executed.
fn executed_statement(line: &str) -> Option<(i64, String)> {
    let (_, fields) = line.split_once("executed statement steps=")?;
    let (steps, sql) = fields.split_once(" sql=")?;
    let sql: String = serde_json::from_str(sql).unwrap();
    let is_of_index = sql.contains("'main'.'");
    (!is_of_index).then(|| (steps.parse().unwrap(), sql))
}

/// A board whose requests are measured.
struct MeasuredBoard {
    demo: Demo,
    counter: WorkCounter,
    work: Work,
    round: u32,
    size: u32,
}

impl MeasuredBoard {
    async fn new(backend: Backend, size: u32) -> Self {
        let storage = backend.create_storage().await;
        let demo = Demo::in_storage(storage, Language::English).await;
        for (key, value) in [
            (settings::POST_INTERVAL.key, "0"),
            (settings::POSTS_PER_HOUR.key, "1000"),
            (settings::EDIT_WINDOW.key, "unlimited"),
            (settings::RATINGS_PER_DAY.key, "1000"),
            (settings::MESSAGES_PER_HOUR.key, "1000"),
            (settings::INBOX_QUOTA.key, "1000000"),
        ] {
            demo.set(key, value).await;
        }
        let numbers = format!(
            "CREATE TABLE number AS
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {size})
            SELECT n FROM number"
        );
        let fill = FILL.replace("{size}", &size.to_string());
        demo.sql(demo.for_backend("", WITHOUT_STATISTICS)).await;
        // The time of each statement is limited.
        for statement in iter::once(&*numbers).chain(fill.split(';')).chain(["DROP TABLE number"]) {
            demo.sql(statement).await;
        }
        demo.add_endpoint().await;
        let counter = WorkCounter::new(&demo).await;
        Self { demo, counter, work: Work::new(), round: 0, size }
    }

    /// Adds the work since the last measurement.
    async fn measure(&mut self, request: &str) {
        for (sql, work) in self.counter.take().await {
            *self.work.entry([request.into(), sql]).or_insert(0) += work;
        }
    }

    /// Sends a request and measures it.
    async fn send(&mut self, name: &'static str, method: &str, path: &str, body: Value) -> Value {
        let client = self.demo.as_member(name).await;
        drop(self.counter.take().await);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = client.request(method.parse().unwrap(), path).body(body);
        let response: TestResponse = request.header("content-type", "application/json").await;
        assert!(response.status < 300, "{method} {path}: {response:?}");
        self.measure(&format!("{name} {method} {}", without_ids(path))).await;
        if response.status == 204 { Value::Null } else { response.json() }
    }

    async fn get(&mut self, name: &'static str, path: &str) -> Value {
        self.send(name, "GET", path, Value::Null).await
    }

    /// Runs a command of an operator and measures it.
    async fn operate<T>(&mut self, name: &str, command: impl Future<Output = BoardResult<T>>) -> T {
        drop(self.counter.take().await);
        let done = command.await.unwrap();
        self.measure(name).await;
        done
    }

    /// Sends each kind of request, and runs the commands of operators, on the objects with the most content.
    async fn run_round(&mut self) {
        self.round += 1;
        self.work.clear();
        self.demo.advance(3600);
        let forum = self.demo.threads_path("General").await;
        let thread = format!("/threads/{LONG_THREAD}");
        let posts = format!("{thread}/posts");
        let first = format!("{posts}/{LONG_THREAD}");
        for name in ["bob", "admin"] {
            for query in ["", "?limit=100", "?since=2023-11-14T22:13:20Z"] {
                self.get(name, &format!("{forum}{query}")).await;
            }
            let page = self.get(name, &format!("{posts}?limit=100")).await;
            let next = page["next"].as_str().unwrap();
            self.get(name, &format!("{posts}?limit=40&after={next}")).await;
            // The last post before the deleted and waiting ones, and one of the later posts.
            for post in [2_000_000 + self.size / 4 - 1, 2_000_000 + self.size / 10 * 9] {
                self.get(name, &format!("{posts}?limit=40&from={post}")).await;
                self.get(name, &format!("{posts}?limit=40&sort=newest&from={post}")).await;
            }
            let page = self.get(name, &format!("{posts}?limit=100&sort=newest")).await;
            let next = page["next"].as_str().unwrap();
            self.get(name, &format!("{posts}?limit=40&sort=newest&after={next}")).await;
            for sort in ["oldest", "newest"] {
                let since = "since=2024-03-09T16:00:01Z";
                self.get(name, &format!("{posts}?{since}&sort={sort}")).await;
            }
            for path in ["/me", "/forums", "/members/@writer1", &thread, &format!("{thread}/poll")]
            {
                self.get(name, path).await;
            }
        }
        for query in ["", "?target=thread", "?limit=100"] {
            self.get("bob", &format!("/subscriptions{query}")).await;
        }
        for query in ["", "?unread=true", "?limit=100"] {
            self.get("bob", &format!("/messages{query}")).await;
        }
        self.change_content(&forum, &posts).await;
        self.change_poll(&thread).await;
        self.moderate(&first).await;
    }

    async fn change_content(&mut self, forum: &str, posts: &str) {
        let round = self.round;
        let created = self.send("bob", "POST", posts, body("tea")).await;
        let reply = format!("{posts}/{}", created["postId"].as_str().unwrap());
        self.send("bob", "PATCH", &reply, body("coffee")).await;
        self.send("bob", "DELETE", &reply, Value::Null).await;
        let new = json!({ "title": "tea", "body": "tea", "subscribe": true });
        self.send("bob", "POST", forum, new).await;
        let title = json!({ "title": format!("tea {round}") });
        self.send("alice", "PATCH", &format!("{posts}/{LONG_THREAD}"), title).await;
        let rating =
            json!({ "points": 1, "comment": "tea", "postId": (2_000_000 + round).to_string() });
        let writer = format!("/members/@writer{}/reputation", round + 1);
        self.send("bob", "POST", &writer, rating).await;
        let message = json!({ "to": ["@bob"], "subject": "tea", "body": "tea" });
        self.send("alice", "POST", "/messages", message).await;
        let page = self.get("bob", "/messages?limit=1").await;
        let copy = page["items"][0]["messageId"].as_str().unwrap();
        self.get("bob", &format!("/messages/{copy}")).await;
        let followed = json!({ "target": "thread", "targetId": LONG_THREAD.to_string() });
        self.send("bob", "POST", "/subscriptions", followed).await;
        let followed = format!("/subscriptions/thread/{LONG_THREAD}");
        self.send("bob", "DELETE", &followed, Value::Null).await;
    }

    async fn change_poll(&mut self, thread: &str) {
        let minute = self.round;
        let poll = self.get("alice", &format!("{thread}/poll")).await;
        let path = format!("/polls/{LONG_THREAD}");
        let closes_at = json!({ "closesAt": format!("2099-01-01T00:{minute:02}:00Z") });
        self.send("alice", "PATCH", &path, closes_at).await;
        let mut options = poll["options"].as_array().unwrap().clone();
        options.pop();
        for option in &mut options {
            option.as_object_mut().unwrap().remove("votes");
        }
        // A vote for the same options again would write nothing.
        let second = 1 + minute as usize % 2;
        let vote = json!({ "optionIds": [options[0]["optionId"], options[second]["optionId"]] });
        self.send("bob", "POST", &format!("{path}/votes"), vote).await;
        self.send("admin", "PATCH", &path, json!({ "options": options })).await;
    }

    /// Hides and shows the long thread, and does what commands leave to batches.
    async fn moderate(&mut self, first: &str) {
        let board = self.demo.board.clone();
        for on in [true, false] {
            for flag in [ThreadFlag::Locked, ThreadFlag::Pinned] {
                let change = board.write(move |tx, events| {
                    Box::pin(moderation::set_flag(tx, events, LONG_THREAD, flag, on))
                });
                self.operate("set a flag", change).await;
            }
        }
        self.send("admin", "DELETE", first, Value::Null).await;
        assert!(self.operate("run a batch", board.run_batch(BatchKind::Recount)).await);
        let restoration =
            board.write(|tx, events| Box::pin(moderation::restore(tx, events, LONG_THREAD)));
        self.operate("restore", restoration).await;
        assert!(self.operate("run a batch", board.run_batch(BatchKind::Recount)).await);
        let post: i64 = self.demo.query_value(FIND_WAITING).await;
        drop(self.counter.take().await);
        let approval =
            board.write(move |tx, events| Box::pin(moderation::approve(tx, events, post)));
        self.operate("approve", approval).await;
        let member = 1_000_001 + i64::from(self.round);
        let beginning = Timestamp::from_millis(0);
        for (operation, posts) in [
            ("delete posts of a member", PostsOfMember::to_delete(member, beginning)),
            ("restore posts of a member", PostsOfMember::to_restore(member, beginning)),
        ] {
            let change = board.write(move |tx, events| Box::pin(posts.change_batch(tx, events)));
            self.operate(operation, change).await;
        }
        self.demo.run_batches().await;
    }
}

/// Replaces the ids and cursors in a path, which differ between boards.
fn without_ids(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_id = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    let segments = path.split('/').map(|segment| if is_id(segment) { "…" } else { segment });
    let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name @ ("after" | "from"), _)) => name,
        _ => parameter,
    });
    let [path, query] =
        [segments.collect::<Vec<_>>().join("/"), parameters.collect::<Vec<_>>().join("&")];
    format!("{path}?{query}")
}

const FIND_WAITING: &str = "
    SELECT id AS value FROM post
    WHERE thread_id = 1000000 AND state = 'awaiting_approval' ORDER BY id LIMIT 1";

/// Keeps Postgres from collecting statistics.
const WITHOUT_STATISTICS: &str = "
    DO $$
    DECLARE
        name TEXT;
    BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
            EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name);
        END LOOP;
    END
    $$;";

/// Returns the work of the requests of a round on a board of this size.
async fn measure(backend: Backend, size: u32) -> Work {
    let mut board = MeasuredBoard::new(backend, size).await;
    for _ in 0..FIRST_ROUNDS {
        board.run_round().await;
    }
    let mut least = Work::new();
    for _ in 0..MEASURED_ROUNDS {
        board.run_round().await;
        for (statement, work) in &board.work {
            let found = least.entry(statement.clone()).or_insert(*work);
            *found = (*found).min(*work);
        }
    }
    least
}

/// Asserts that the work of no statement exceeds `most`, or grows with the board by more than the depth of its indexes, or
/// `tolerance`: Postgres reads small tables as a whole.
fn assert_bounded(small: &Work, large: &Work, growth: f64, most: i64, tolerance: i64) {
    let mut faults = String::new();
    for ([request, sql], work) in large {
        let before = small.get(&[request.clone(), sql.clone()]).copied().unwrap_or(0);
        let allowed = (before as f64 * growth) as i64 + tolerance;
        if *work > allowed || *work > most {
            faults += &format!("{request}: {work}, {before} on the small board: {sql}\n\n");
        }
    }
    assert!(large.len() > 100, "{} statements", large.len());
    assert!(faults.is_empty(), "{faults}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_statements_do_not_grow_with_the_board() {
    let _statements = thread_log::record_statements();
    let small = measure(Backend::Memory, SMALL).await;
    let large = measure(Backend::Memory, LARGE).await;
    assert_bounded(&small, &large, 1.2, 20_000, 1_000);
}

#[test]
fn the_pages_of_statements_do_not_grow_with_the_board() {
    run_with_postgres(async {
        let (small, large) =
            tokio::join!(measure(Backend::Postgres, SMALL), measure(Backend::Postgres, LARGE));
        assert_bounded(&small, &large, 1.5, 2_500, 200);
    });
}
