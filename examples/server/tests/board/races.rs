//! Commands that run at the same time on two nodes that share a database: in most tests a Postgres.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::AtomicBool;

use forum_api::model::UserRef;
use forum_api::store::postgres::tokio_postgres_0_7::deadpool_postgres::Client;
use forum_api::test_util::audit_entry;
use tokio::sync::Barrier;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{advance, interval, pause, resume};

use crate::board::db::{ReadKind, Writer};
use crate::board::locks::{self, LockTarget, PostTarget};
use crate::board::removal::ContentOfMember;
use crate::demo::{field_values, refusal};
use crate::prelude::*;

/// Number of writes while a client polls.
const WRITES: usize = 240;

/// Message of a refused command of a member who was banned after the request began.
const CLOSED: &str = "This account can no longer be used.";

/// A request of a member.
#[derive(Clone)]
struct Request {
    member: i64,
    method: &'static str,
    path: String,
    body: Value,
}

fn post(member: i64, path: impl Into<String>, body: Value) -> Request {
    Request { member, method: "POST", path: path.into(), body }
}

fn delete(member: i64, path: impl Into<String>) -> Request {
    Request { method: "DELETE", ..post(member, path, Value::Null) }
}

/// Two nodes on the demo board, without a minimum interval between posts.
struct TwoNodes {
    demo: Demo,
    other: TestApi,
    clock_of_other: Arc<ManualClock>,
    /// Members without content.
    members: Vec<i64>,
}

impl TwoNodes {
    async fn new() -> Arc<Self> {
        let storage = Backend::Postgres.create_storage().await;
        Self::in_storage(storage, Duration::ZERO).await
    }

    /// The clock of the other node is behind by `lag`.
    async fn in_storage(storage: Storage, lag: Duration) -> Arc<Self> {
        storage.add_endpoint().await;
        let demo = Demo::in_storage(storage, Language::English).await;
        demo.set(settings::POST_INTERVAL.key, "0").await;
        let members = demo
            .board
            .write(|tx, events| {
                Box::pin(async move {
                    let mut members = Vec::new();
                    let groups = Groups::of([Group::Members]);
                    for number in 0..12 {
                        let name = format!("racer{number}");
                        members.push(accounts::add(tx, &name, groups, events.now).await?);
                    }
                    Ok(members)
                })
            })
            .await
            .unwrap();
        let clock_of_other = Arc::new(ManualClock::new(demo.clock.now().saturating_sub(lag)));
        Arc::new(Self { members, other: demo.another_node(&clock_of_other), clock_of_other, demo })
    }

    /// Sends all requests at the same time, every second one to the other node. The clock advances meanwhile. Returns the
    /// responses in order.
    async fn send_all(self: &Arc<Self>, requests: Vec<Request>) -> Vec<(u16, Value)> {
        let mut sent = JoinSet::new();
        for (number, request) in requests.into_iter().enumerate() {
            let nodes = self.clone();
            sent.spawn(async move { (number, nodes.send(number, &request).await) });
        }
        let nodes = self.clone();
        let clock = tokio::spawn(async move {
            let mut ticks = interval(Duration::from_millis(1));
            loop {
                ticks.tick().await;
                nodes.demo.clock.advance(ticks.period());
                nodes.clock_of_other.advance(ticks.period());
            }
        });
        let answers: BTreeMap<_, _> = sent.join_all().await.into_iter().collect();
        clock.abort();
        answers.into_values().collect()
    }

    /// Sends all requests, and polls the list `path` with `since` as the document of the API describes. Returns the
    /// responses and the polled items by id and time.
    async fn send_and_poll(
        self: &Arc<Self>,
        requests: Vec<Request>,
        path: &str,
        [id, time]: [&str; 2],
    ) -> (Vec<Value>, BTreeSet<[String; 2]>) {
        let nodes = self.clone();
        let sent = tokio::spawn(async move {
            let mut responses = Vec::new();
            for requests in requests.chunks(nodes.members.len()) {
                responses.extend(nodes.send_all(requests.to_vec()).await);
            }
            responses
        });
        let mut seen = BTreeSet::new();
        let mut since = String::from("2026-01-01T00:00:00.000Z");
        let mut is_last = false;
        while !is_last {
            is_last = sent.is_finished();
            let query = format!("{path}?limit=100&since={since}");
            for page in self.demo.pages("admin", &query).await {
                for item in page["items"].as_array().unwrap() {
                    let key = [id, time].map(|field| item[field].as_str().unwrap().to_owned());
                    since = since.max(key[1].clone());
                    seen.insert(key);
                }
            }
        }
        let responses = sent.await.unwrap().into_iter().map(|(status, item)| {
            assert_eq!(status, 201, "{item}");
            item
        });
        (responses.collect(), seen)
    }

    /// Asserts that a client that polls receives each post of a thread, each thread of a forum, and each last activity
    /// of the threads of a forum, while many members write.
    async fn assert_polls_miss_nothing(self: &Arc<Self>) {
        self.demo.set(settings::POSTS_PER_HOUR.key, "1000").await;
        let repeated = |paths: &[String], new: &Value| -> Vec<Request> {
            let members = self.members.iter().cycle().take(WRITES);
            members
                .zip(paths.iter().cycle())
                .map(|(member, path)| post(*member, path, new.clone()))
                .collect()
        };
        let missed = |items: Vec<Value>, seen: &BTreeSet<[String; 2]>, [id, time]: [&str; 2]| {
            let key =
                |item: &Value| [id, time].map(|field| String::from(item[field].as_str().unwrap()));
            items.iter().map(key).filter(|key| !seen.contains(key)).collect::<Vec<_>>()
        };
        let thread = self.start_thread(self.members[0], "Hot").await;
        let fields = ["postId", "createdAt"];
        let replies = repeated(std::slice::from_ref(&thread), &body("A reply"));
        let (written, seen) = self.send_and_poll(replies, &thread, fields).await;
        let posts = missed(written, &seen, fields);
        assert!(posts.is_empty(), "posts of a thread: {posts:?}");

        let general = self.demo.threads_path("General").await;
        let fields = ["threadId", "lastActivityAt"];
        let new = json!({ "title": "One of many", "body": "x" });
        let threads = repeated(std::slice::from_ref(&general), &new);
        let (written, seen) = self.send_and_poll(threads, &general, fields).await;
        let paths: Vec<String> = written.iter().take(40).map(posts_path).collect();
        let threads = missed(written, &seen, fields);
        assert!(threads.is_empty(), "threads of a forum: {threads:?}");

        let replies = repeated(&paths, &body("A reply"));
        let (written, seen) = self.send_and_poll(replies, &general, fields).await;
        let mut last = BTreeMap::new();
        for reply in written {
            let [thread, time] =
                ["threadId", "createdAt"].map(|field| reply[field].as_str().unwrap().to_owned());
            let newest = last.entry(thread).or_insert_with(String::new);
            *newest = time.max(newest.clone());
        }
        last.retain(|thread, time| !seen.contains(&[thread.clone(), time.clone()]));
        assert!(last.is_empty(), "last activity of threads: {last:?}");
    }

    async fn send(&self, node: usize, request: &Request) -> (u16, Value) {
        let api = match node % 2 {
            0 => &self.demo.api,
            _ => &self.other,
        };
        let client = api.as_member(&request.member.to_string());
        let answer = match request.method {
            "DELETE" => client.delete(&request.path).await,
            "PATCH" => client.patch(&request.path, &request.body).await,
            _ => client.post(&request.path, &request.body).await,
        };
        (answer.status, answer.json())
    }

    /// Returns the numbers of responses with each status.
    async fn statuses(self: &Arc<Self>, requests: Vec<Request>) -> BTreeMap<u16, usize> {
        let mut counts = BTreeMap::new();
        for (status, _) in self.send_all(requests).await {
            *counts.entry(status).or_default() += 1;
        }
        counts
    }

    /// Starts a thread in General and returns the path of its posts.
    async fn start_thread(&self, member: i64, title: &str) -> String {
        let general = self.demo.threads_path("General").await;
        let new = json!({ "title": title, "body": "x" });
        let (_, thread) = self.send(0, &post(member, general, new)).await;
        posts_path(&thread)
    }

    /// Starts threads. Returns the paths of their posts.
    async fn start_threads(&self, count: usize) -> Vec<String> {
        let mut threads = Vec::new();
        for _ in 0..count {
            threads.push(self.start_thread(self.members[0], "One of several").await);
        }
        threads
    }

    async fn client(&self) -> Client {
        self.demo.pool().get().await.unwrap()
    }

    /// Asserts that all counters equal a recount.
    async fn assert_counters(&self) {
        assert_eq!(self.wrong_counters().await, [] as [&str; 0]);
    }

    /// Returns the rows whose counters differ from a recount.
    async fn wrong_counters(&self) -> Vec<String> {
        let client = self.client().await;
        let recount = include_str!("recount.sql");
        let rows = client.query(recount, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Sends a request whose command waits for the uncommitted `sql`, commits it, and returns the response.
    async fn send_while_committing(self: &Arc<Self>, sql: &str, request: Request) -> (u16, Value) {
        let client = self.client().await;
        client.batch_execute("BEGIN").await.unwrap();
        client.batch_execute(sql).await.unwrap();
        let nodes = self.clone();
        let response = tokio::spawn(async move { nodes.send(0, &request).await });
        wait_for_lock(&client, "", &response).await;
        client.batch_execute("COMMIT").await.unwrap();
        response.await.unwrap()
    }
}

/// Runs a test on two nodes of a board in Postgres.
fn with_two_nodes(test: impl AsyncFnOnce(Arc<TwoNodes>)) {
    run_with_postgres(async { test(TwoNodes::new().await).await });
}

/// Waits until a statement that contains the text `statement` waits for a lock.
async fn wait_for_lock<T>(client: &Client, statement: &str, response: &JoinHandle<T>) {
    let waiting = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1) > 0";
    let count = async || client.query_one(waiting, &[&statement]).await.unwrap();
    while count().await.get::<_, i64>(0) == 0 {
        assert!(!response.is_finished(), "{statement} did not wait");
        tokio::time::sleep(Duration::from_millis(5)).await;
        // Without this call, a transaction sees the same statistics until it ends.
        let renew = "SELECT pg_stat_clear_snapshot()";
        client.query(renew, &[]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn polls_with_since_miss_nothing_on_sqlite() {
    let storage = Backend::Memory.create_storage().await;
    let nodes = TwoNodes::in_storage(storage, Duration::ZERO).await;
    nodes.assert_polls_miss_nothing().await;
}

#[test]
fn polls_with_since_miss_nothing_on_nodes_with_different_clocks() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        let nodes = TwoNodes::in_storage(storage, Duration::from_secs(5)).await;
        nodes.assert_polls_miss_nothing().await;
        nodes.assert_counters().await;
    });
}

#[test]
fn a_reply_sees_the_lock_and_the_deletion_of_its_thread_and_the_ban_of_its_author() {
    with_two_nodes(async |nodes| {
        let thread = nodes.start_thread(nodes.members[0], "One").await;
        let member = nodes.members[1];
        let id = thread_in(&thread);
        let reply = || post(member, &thread, body("x"));
        for (change, undo, expected) in [
            (
                format!("UPDATE thread SET locked = TRUE WHERE id = {id}"),
                format!("UPDATE thread SET locked = FALSE WHERE id = {id}"),
                (403, "FORBIDDEN", "This thread is locked."),
            ),
            (
                format!("UPDATE thread SET state = 'deleted' WHERE id = {id}"),
                format!("UPDATE thread SET state = 'visible' WHERE id = {id}"),
                (404, "not_found", "Not found."),
            ),
            (
                format!("UPDATE member SET banned = TRUE WHERE id = {member}"),
                format!("UPDATE member SET banned = FALSE WHERE id = {member}"),
                (403, "FORBIDDEN", CLOSED),
            ),
        ] {
            let refused = nodes.send_while_committing(&change, reply()).await;
            assert_eq!(refusal(&refused), expected, "{change}");
            nodes.client().await.batch_execute(&undo).await.unwrap();
            assert_eq!(nodes.send(0, &reply()).await.0, 201, "{undo}");
        }
        nodes.assert_counters().await;
    });
}

/// Both connections have prepared the statement that reads the member, but not the statement that locks the thread.
#[test]
fn the_first_reply_of_a_process_sees_the_ban_of_its_author() {
    with_two_nodes(async |nodes| {
        let member = nodes.members[0];
        let tea = nodes.demo.tea_posts_path().await;
        let follow = post(member, "/subscriptions", json!({ "target": "forum", "targetId": "2" }));
        nodes.demo.pool().resize(2);
        let [one, other] = [nodes.client().await, nodes.client().await];
        drop(one);
        assert_eq!(nodes.send(0, &follow).await.0, 201);
        let one = nodes.client().await;
        drop(other);
        assert_eq!(nodes.send(0, &follow).await.0, 200);
        drop(one);
        let change = format!("UPDATE member SET banned = TRUE WHERE id = {member}");
        let refused = nodes.send_while_committing(&change, post(member, tea, body("x"))).await;
        assert_eq!(refusal(&refused), (403, "FORBIDDEN", CLOSED));
    });
}

#[test]
fn concurrent_posts_of_one_member_keep_to_the_flood_limits() {
    with_two_nodes(async |nodes| {
        let threads = nodes.start_threads(4).await;
        let general = nodes.demo.threads_path("General").await;
        let requests = |member: i64| {
            let replied = threads.iter().cycle().take(10);
            let replies = replied.map(move |thread| post(member, thread, body("x")));
            let start = post(member, &general, json!({ "title": "x", "body": "x" }));
            replies.chain([start.clone(), start]).collect::<Vec<_>>()
        };
        nodes.demo.set(settings::POSTS_PER_HOUR.key, "3").await;
        let statuses = nodes.statuses(requests(nodes.members[1])).await;
        assert_eq!(statuses, [(201, 3), (429, 9)].into());
        nodes.demo.set(settings::POST_INTERVAL.key, "15").await;
        let statuses = nodes.statuses(requests(nodes.members[2])).await;
        assert_eq!(statuses, [(201, 1), (422, 11)].into());
        nodes.assert_counters().await;
    });
}

#[test]
fn concurrent_edits_of_one_member_keep_to_their_limit() {
    with_two_nodes(async |nodes| {
        let member = nodes.members[0];
        let mut edits = Vec::new();
        for title in ["One", "Two"] {
            let thread = nodes.start_thread(member, title).await;
            let (_, posts) = nodes.demo.get("guest", &thread).await;
            let first = format!("{thread}/{}", number(&posts["items"][0]["postId"]));
            edits.extend((0..6).map(|number| Request {
                method: "PATCH",
                ..post(member, &first, body(&number.to_string()))
            }));
        }
        nodes.demo.set(settings::EDITS_PER_HOUR.key, "5").await;
        assert_eq!(nodes.statuses(edits).await, [(200, 5), (429, 7)].into());
    });
}

#[test]
fn a_receipt_takes_no_place_of_the_inbox_quota() {
    with_two_nodes(async |nodes| {
        nodes.demo.set(settings::INBOX_QUOTA.key, "1").await;
        let [sender, reader, other, ..] = nodes.members[..] else { panic!("too few members") };
        let message = |to: i64| {
            json!({
                "to": [to.to_string()], "subject": "x", "body": "x", "requestReceipt": true,
            })
        };
        assert_eq!(nodes.send(0, &post(sender, "/messages", message(reader))).await.0, 201);
        let client = nodes.demo.api.as_member(&reader.to_string());
        let inbox = client.get("/messages").await.json();
        let copy = inbox["items"][0]["messageId"].as_str().unwrap();
        assert_eq!(client.get(&format!("/messages/{copy}")).await.status, 200);
        for expected in [201, 422] {
            let answer = nodes.send(0, &post(other, "/messages", message(sender))).await;
            assert_eq!(answer.0, expected, "{}", answer.1);
        }
        nodes.assert_counters().await;
    });
}

/// The content needs two batches.
#[test]
fn counters_of_generated_content_equal_a_recount() {
    with_two_nodes(async |nodes| {
        nodes.demo.generate(ContentSize { members: 3, threads: 3, posts: 6_000 }).await;
        nodes.assert_counters().await;
    });
}

/// The authors of the deleted thread are not recounted before. The numbers of a thread have gaps after the removal of
/// replies.
#[test]
fn counters_equal_a_recount_after_each_batch_of_an_erasure() {
    with_two_nodes(async |nodes| {
        let [erased, one, other, ..] = nodes.members[..] else { panic!("too few members") };
        for starter in [erased, one] {
            let thread = nodes.start_thread(starter, "Shared").await;
            for member in [one, erased, other] {
                assert_eq!(nodes.send(0, &post(member, &thread, body("x"))).await.0, 201);
            }
        }
        let mut undeleted =
            Some(moderation::PostsOfMember::to_delete(erased, Timestamp::from_millis(0)));
        while let Some(posts) = undeleted {
            let deletion =
                nodes.demo.board.write(move |tx, events| Box::pin(posts.change_batch(tx, events)));
            undeleted = deletion.await.unwrap().1;
        }
        nodes.assert_counters().await;
        let replies = "
            SELECT id FROM thread
            WHERE reply_count <> (
                SELECT count(*) FROM post
                WHERE post.thread_id = thread.id AND post.state = 'visible' AND post.id <> thread.first_post_id
            )";
        let mut rest = Some(ContentOfMember::new(erased, true));
        let mut batches = 0;
        while let Some(content) = rest {
            let removal = nodes.demo.board.write(move |tx, _| Box::pin(content.remove_batch(tx)));
            rest = removal.await.unwrap();
            batches += 1;
            let mut wrong = nodes.wrong_counters().await;
            wrong.retain(|row| !row.starts_with("thread "));
            assert_eq!(wrong, [] as [&str; 0], "batch {batches}");
            let found = nodes.client().await.query(replies, &[]).await.unwrap();
            assert!(found.is_empty(), "batch {batches}");
        }
    });
}

#[test]
fn concurrent_messages_do_not_exceed_the_inbox_quota() {
    with_two_nodes(async |nodes| {
        nodes.demo.set(settings::INBOX_QUOTA.key, "3").await;
        let (to, senders) = nodes.members.split_first().unwrap();
        let message = json!({ "to": [to.to_string()], "subject": "x", "body": "x" });
        let requests = senders.iter().map(|sender| post(*sender, "/messages", message.clone()));
        let statuses = nodes.statuses(requests.collect()).await;
        assert_eq!(statuses, [(201, 3), (422, 8)].into());
        nodes.assert_counters().await;
    });
}

/// A post is changed and then awaits approval, after a search has found it and before the search reads it.
#[test]
fn a_search_does_not_show_a_text_that_was_written_after_it_began() {
    with_two_nodes(async |nodes| {
        nodes.start_thread(nodes.members[0], "Zebrafish").await;
        let first = nodes.client().await;
        let second = nodes.client().await;
        first.batch_execute("BEGIN; LOCK TABLE thread").await.unwrap();
        let search = tokio::spawn({
            let nodes = nodes.clone();
            async move { nodes.demo.get("guest", "/search?q=zebrafish").await }
        });
        wait_for_lock(&first, "matches(", &search).await;
        second.batch_execute("BEGIN; LOCK TABLE member").await.unwrap();
        first.batch_execute("COMMIT").await.unwrap();
        wait_for_lock(&second, "post.body", &search).await;
        let edit = "UPDATE post SET body = 'secret', state = 'awaiting_approval'
            WHERE id = (SELECT max(id) FROM post); COMMIT";
        second.batch_execute(edit).await.unwrap();
        let (_, found) = search.await.unwrap();
        assert_eq!(field_values(&found, "excerpt"), ["x"]);
    });
}

#[test]
fn a_read_of_one_statement_has_no_second_statement() {
    with_two_nodes(async |nodes| {
        let twice = nodes
            .demo
            .board
            .read(|connection| {
                Box::pin(async move {
                    let first = connection.any("SELECT 1", &[]).await?;
                    Ok(first && connection.any("SELECT 1", &[]).await?)
                })
            })
            .await;
        let error = format!("{:?}", twice.unwrap_err());
        assert!(error.contains("needs a snapshot"), "{error}");
    });
}

/// The board's pool has 16 connections. On one thread, all searches wait before the first read begins.
#[tokio::test]
async fn searches_leave_connections_for_other_reads() {
    let storage = Backend::Postgres.create_storage().await;
    let searching = Arc::new(AtomicUsize::new(0));
    let mut searches = JoinSet::new();
    for _ in 0..16 {
        let database = storage.database.clone();
        let searching = searching.clone();
        searches.spawn(async move {
            database
                .read::<()>(ReadKind::Search, move |_| {
                    searching.fetch_add(1, Ordering::Relaxed);
                    Box::pin(pending())
                })
                .await
                .unwrap();
        });
    }
    while searching.load(Ordering::Relaxed) < 4 {
        tokio::task::yield_now().await;
    }
    let all = Arc::new(Barrier::new(12));
    let mut reads = JoinSet::new();
    for _ in 0..12 {
        let database = storage.database.clone();
        let all = all.clone();
        reads.spawn(async move {
            database
                .read(ReadKind::Short, move |connection| {
                    Box::pin(async move {
                        all.wait().await;
                        connection.any("SELECT 1", &[]).await
                    })
                })
                .await
                .unwrap()
        });
    }
    assert_eq!(reads.join_all().await, [true; 12]);
    assert_eq!(searching.load(Ordering::Relaxed), 4);
}

/// The pool has three connections, of which one searches at a time.
#[test]
fn a_dropped_search_occupies_its_connection_until_its_statement_ends() {
    run_with_postgres(async {
        let storage = Backend::Postgres.create_storage().await;
        let pool = storage.pool();
        pool.resize(3);
        let database = BoardDatabase::from(pool.clone());
        let holder = pool.get().await.unwrap();
        holder.batch_execute("BEGIN; LOCK TABLE session").await.unwrap();
        let search = tokio::spawn({
            let database = database.clone();
            async move {
                let find = database.read(ReadKind::Search, |connection| {
                    Box::pin(connection.any("SELECT 1 FROM session", &[]))
                });
                find.await
            }
        });
        wait_for_lock(&holder, "FROM session", &search).await;
        search.abort();
        assert!(search.await.unwrap_err().is_cancelled());
        let [_, in_use, _] = database.connections();
        assert_eq!(in_use, 2, "of the lock and of the dropped search");
        let at_next_search = database.clone();
        let next = database.read::<[usize; 3]>(ReadKind::Search, move |_| {
            let connections = at_next_search.connections();
            Box::pin(async move { Ok(connections) })
        });
        let (connections, released) = tokio::join!(next, holder.batch_execute("COMMIT"));
        released.unwrap();
        let [_, in_use, _] = connections.unwrap();
        assert_eq!(in_use, 2, "of the lock and of the next search");
    });
}

/// A statement of SQLite is interrupted, and one of Postgres ends with its time limit.
#[tokio::test]
async fn a_search_that_takes_too_long_is_overloaded() {
    let endless = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) SELECT max(n) FROM number";
    for (backend, statement) in [
        (Backend::File, endless),
        (Backend::Memory, endless),
        (Backend::Postgres, "SELECT pg_sleep(60)"),
    ] {
        let storage = backend.create_storage().await;
        let database = &storage.database;
        let search = database.read(ReadKind::Search, move |connection| {
            Box::pin(async move { connection.any(statement, &[]).await })
        });
        let error = search.await.unwrap_err();
        assert_eq!(error.status(), 503, "{error:?}");
        let next = database.read(ReadKind::Search, |connection| {
            Box::pin(async move { connection.any("SELECT 1", &[]).await })
        });
        assert!(next.await.unwrap());
    }
}

#[test]
fn two_commands_do_not_remove_the_last_two_administrators() {
    with_two_nodes(async |nodes| {
        let demo = &nodes.demo;
        let groups = Groups::of([Group::Administrators, Group::Members, Group::Staff]);
        let second = demo
            .board
            .write(move |tx, events| {
                Box::pin(async move {
                    let second = accounts::add(tx, "second", groups, events.now).await?;
                    accounts::set_password(tx, second, "hash").await?;
                    accounts::set_password(tx, 1, "hash").await?;
                    Ok(second)
                })
            })
            .await
            .unwrap();
        let ban = |member, pause: Option<Arc<Barrier>>| {
            let board = demo.board.clone();
            tokio::spawn(async move {
                board
                    .write(move |tx, _| {
                        Box::pin(async move {
                            locks::member_and_administrators(tx, member).await?;
                            if let Some(pause) = &pause {
                                pause.wait().await;
                                pause.wait().await;
                            }
                            accounts::check_not_last_administrator(tx, member, "x").await?;
                            accounts::set_banned(tx, member, true).await
                        })
                    })
                    .await
                    .is_ok()
            })
        };
        let pause = Arc::new(Barrier::new(2));
        let first = ban(1, Some(pause.clone()));
        pause.wait().await;
        let last = ban(second, None);
        wait_for_lock(&nodes.client().await, "member", &last).await;
        pause.wait().await;
        assert_eq!((first.await.unwrap(), last.await.unwrap()), (true, false));
    });
}

/// A `VACUUM` can hold a table for hours.
#[test]
fn other_writes_run_while_an_erasure_waits_for_a_table() {
    with_two_nodes(async |nodes| {
        let holder = nodes.client().await;
        let hold = "BEGIN; LOCK TABLE post IN SHARE UPDATE EXCLUSIVE MODE";
        holder.batch_execute(hold).await.unwrap();
        let board = nodes.demo.board.clone();
        let member = nodes.members[0];
        let erasure = tokio::spawn(async move { board.erase(member, false, audit_entry()).await });
        wait_for_lock(&holder, "IN EXCLUSIVE MODE", &erasure).await;
        let reply = post(nodes.members[1], "/threads/1/posts", json!({ "body": "x" }));
        assert_eq!(nodes.send(0, &reply).await.0, 201);
        assert!(!erasure.is_finished());
        holder.batch_execute("COMMIT").await.unwrap();
        erasure.await.unwrap().unwrap();
    });
}

/// Each command locks the rows of both members.
#[test]
fn members_who_message_and_rate_each_other_do_not_deadlock() {
    with_two_nodes(async |nodes| {
        let before = count_deadlocks(&nodes).await;
        for round in 0..6 {
            let mut requests = Vec::new();
            for pair in nodes.members.chunks_exact(2) {
                for (from, to) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                    let message = json!({ "to": [to.to_string()], "subject": "x", "body": "x" });
                    requests.push(post(from, "/messages", message));
                    if round == 0 {
                        let rating = json!({ "points": 1, "comment": "x" });
                        requests.push(post(from, format!("/members/{to}/reputation"), rating));
                    }
                }
            }
            let count = requests.len();
            assert_eq!(nodes.statuses(requests).await, [(201, count)].into());
        }
        nodes.assert_counters().await;
        assert_eq!(count_deadlocks(&nodes).await, before);
    });
}

/// The receipt is written into the inbox of the sender.
#[test]
fn an_opening_locks_the_rows_of_both_members_in_order_before_it_writes() {
    with_two_nodes(async |nodes| {
        let [sender, reader, ..] = nodes.members[..] else { panic!("too few members") };
        let message = json!({
            "to": [reader.to_string()], "subject": "x", "body": "x", "requestReceipt": true,
        });
        assert_eq!(nodes.send(0, &post(sender, "/messages", message)).await.0, 201);
        let inbox = nodes.demo.api.as_member(&reader.to_string()).get("/messages").await.json();
        let path = format!("/messages/{}", inbox["items"][0]["messageId"].as_str().unwrap());
        let client = nodes.client().await;
        let lock = |member: i64| {
            format!("SELECT id FROM member WHERE id = {member} FOR NO KEY UPDATE NOWAIT")
        };
        client.batch_execute("BEGIN").await.unwrap();
        client.batch_execute(&lock(sender)).await.unwrap();
        let opening = tokio::spawn({
            let nodes = nodes.clone();
            async move { nodes.demo.api.as_member(&reader.to_string()).get(&path).await.status }
        });
        wait_for_lock(&client, "", &opening).await;
        client.batch_execute(&lock(reader)).await.expect("the opening holds no lock");
        client.batch_execute("COMMIT").await.unwrap();
        assert_eq!(opening.await.unwrap(), 200);
    });
}

/// Returns the ids of the rows of a table that another transaction has locked.
async fn locked_rows(client: &Client, table: &str) -> Vec<i64> {
    let query = format!(
        "WITH free AS MATERIALIZED (SELECT id FROM {table} FOR NO KEY UPDATE SKIP LOCKED)
        SELECT id FROM {table} WHERE id NOT IN (SELECT id FROM free) ORDER BY id"
    );
    client.query(&query, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// Rows that a command locks.
#[derive(Clone, Debug)]
enum Locked {
    Target(LockTarget),
    Posts(Vec<i64>),
    Administrators(i64),
}

#[test]
fn commands_lock_the_rows_that_they_change() {
    with_two_nodes(async |nodes| {
        let [caller, author, other, ..] = nodes.members[..] else { panic!("too few members") };
        let mut posts = Vec::new();
        let mut threads = Vec::new();
        for (path, member) in nodes.start_threads(2).await.iter().zip([author, other]) {
            let (_, reply) = nodes.send(0, &post(member, path, body("A reply"))).await;
            posts.push(number(&reply["postId"]));
            threads.push(number(&reply["threadId"]));
        }
        let to = json!(["@racer1", other.to_string()]);
        let message = json!({ "to": to, "subject": "x", "body": "x" });
        let (_, sent) = nodes.send(0, &post(author, "/messages", message.clone())).await;
        let recipients = LockTarget::Recipients(serde_json::from_value(message).unwrap());
        let client = Arc::new(nodes.client().await);
        let find = "SELECT id, thread_id FROM poll ORDER BY id LIMIT 1";
        let row = client.query_one(find, &[]).await.unwrap();
        let [poll, thread_of_poll]: [i64; 2] = [row.get(0), row.get(1)];
        let admin = nodes.demo.id("admin").await;
        let in_thread = PostTarget { thread: Some(threads[0]), post: posts[0] };
        let elsewhere = PostTarget { thread: Some(threads[1]), post: posts[0] };
        let copy = number(&sent["messageId"]);
        let name = UserRef::Name("Racer1".into());
        use LockTarget::{Member, MessageCopy, Nothing, Poll, Post, Thread};
        use Locked::{Administrators, Posts, Target};
        for (locked, locked_threads, locked_members) in [
            (Target(Nothing), vec![], vec![caller]),
            (Target(Thread(threads[0])), vec![threads[0]], vec![caller]),
            (Target(Post(in_thread)), vec![threads[0]], vec![caller, author]),
            (Target(Post(elsewhere)), vec![threads[0]], vec![caller, author]),
            (Target(Poll(poll)), vec![thread_of_poll], vec![caller]),
            (Target(Member(UserRef::Id(author.into()))), vec![], vec![caller, author]),
            (Target(Member(name)), vec![], vec![caller, author]),
            (Target(recipients), vec![], vec![caller, author, other]),
            (Target(MessageCopy(copy)), vec![], vec![caller, author]),
            (Posts(posts.clone()), threads.clone(), vec![author, other]),
            (Administrators(other), vec![], vec![admin, other]),
        ] {
            let client = client.clone();
            let case = format!("{locked:?}");
            let found = nodes
                .demo
                .board
                .write(move |tx, _| {
                    let (client, locked) = (client.clone(), locked.clone());
                    Box::pin(async move {
                        match locked {
                            Target(target) => target.lock(tx, Some(caller)).await?,
                            Posts(posts) => locks::posts(tx, &posts).await?,
                            Administrators(member) => {
                                locks::member_and_administrators(tx, member).await?
                            }
                        }
                        let threads = locked_rows(&client, "thread").await;
                        Ok((threads, locked_rows(&client, "member").await))
                    })
                })
                .await
                .unwrap();
            assert_eq!(found, (locked_threads, locked_members), "{case}");
        }
    });
}

/// Two batches would otherwise change the rows of common authors in different orders.
#[test]
fn a_recount_locks_its_authors_in_order_before_it_changes_them() {
    with_two_nodes(async |nodes| {
        let thread = nodes.start_thread(nodes.members[0], "One").await;
        let author = nodes.members[1];
        assert_eq!(nodes.send(0, &post(author, &thread, body("A reply"))).await.0, 201);
        let client = nodes.client().await;
        let id = thread_in(&thread);
        let mark = format!("INSERT INTO thread_recount (thread_id, counts) VALUES ({id}, TRUE)");
        client.batch_execute(&mark).await.unwrap();
        let lock = format!("BEGIN; SELECT id FROM member WHERE id = {author} FOR NO KEY UPDATE");
        client.batch_execute(&lock).await.unwrap();
        let board = nodes.demo.board.clone();
        let batch = tokio::spawn(async move { board.run_batch(BatchKind::Recount).await });
        wait_for_lock(&client, "ORDER BY id FOR NO KEY UPDATE", &batch).await;
        client.batch_execute("COMMIT").await.unwrap();
        assert!(batch.await.unwrap().unwrap());
        nodes.assert_counters().await;
    });
}

/// The time of a post is then at most 15 s earlier than its commit.
#[tokio::test]
async fn a_command_of_more_than_15_seconds_has_no_effect_and_may_run_again_after_a_second() {
    let demo = Demo::in_postgres().await;
    let reputation = "SELECT CAST(reputation AS BIGINT) AS value FROM member WHERE id = 1";
    let before: i64 = demo.query_value(reputation).await;
    for (seconds, expected) in [(10, None), (16, Some(Duration::from_secs(1)))] {
        let written = demo.database().write(Writer::Member { thread: None }, move |tx| {
            Box::pin(async move {
                let update = "UPDATE member SET reputation = reputation + 1 WHERE id = 1";
                tx.execute(update, &[]).await?;
                pause();
                advance(Duration::from_secs(seconds)).await;
                resume();
                Ok(())
            })
        });
        let retry_after = written.await.err().and_then(|error| error.retry_after());
        assert_eq!(retry_after, expected, "{seconds} s");
    }
    assert_eq!(demo.query_value::<i64>(reputation).await, before + 1);
}

/// A connection can stop responding without an error. A migration can take long.
#[tokio::test]
async fn only_commands_end_after_15_seconds_without_a_response() {
    let demo = Demo::in_postgres().await;
    let database = demo.database();
    let unlimited = database.write_without_timeout(|tx| Box::pin(wait_with_paused_clock(tx)));
    assert!(unlimited.await.unwrap());
    let limited = database.write(Writer::Operator, |tx| Box::pin(wait_with_paused_clock(tx)));
    let retry_after = limited.await.err().and_then(|error| error.retry_after());
    assert_eq!(retry_after, Some(Duration::from_secs(1)));
}

/// Waits for a statement while the clock jumps to the next time limit.
async fn wait_with_paused_clock(tx: &Transaction<'_>) -> BoardResult<bool> {
    pause();
    let waited = tx.any("SELECT 1 FROM pg_sleep(0.2)", &[]).await;
    resume();
    waited
}

async fn count_deadlocks(nodes: &TwoNodes) -> i64 {
    let client = nodes.client().await;
    let count = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    client.query_one(count, &[]).await.unwrap().get(0)
}

#[test]
fn a_transaction_that_a_deadlock_ends_runs_again() {
    with_two_nodes(async |nodes| {
        let both = Arc::new(Barrier::new(2));
        let write = |[first, second]: [i64; 2]| {
            let both = both.clone();
            let is_repeated = Arc::new(AtomicBool::new(false));
            let board = nodes.demo.board.clone();
            tokio::spawn(async move {
                board
                    .write(move |tx, _| {
                        Box::pin(async move {
                            let update =
                                "UPDATE member SET reputation = reputation + 1 WHERE id = ?1";
                            tx.execute(update, bind![first]).await?;
                            if !is_repeated.swap(true, Ordering::SeqCst) {
                                both.wait().await;
                            }
                            tx.execute(update, bind![second]).await?;
                            Ok(())
                        })
                    })
                    .await
            })
        };
        let one = nodes.members[0];
        let two = nodes.members[1];
        let written = [write([one, two]), write([two, one])];
        for write in written {
            write.await.unwrap().unwrap();
        }
        let client = nodes.client().await;
        let query = "SELECT sum(reputation)::BIGINT FROM member WHERE id IN ($1, $2)";
        let sum: i64 = client.query_one(query, &[&one, &two]).await.unwrap().get(0);
        assert_eq!(sum, 4);
    });
}

/// Members reply, start threads, edit, rate, send messages and vote, moderators delete, and an operator approves and
/// restores, all at the same time.
#[test]
fn counters_equal_a_recount_after_concurrent_writes() {
    with_two_nodes(async |nodes| {
        let moderator = nodes.demo.id("mod").await;
        let newbie = nodes.demo.id("newbie").await;
        let general = nodes.demo.threads_path("General").await;
        let threads = nodes.start_threads(3).await;
        let mut written: Vec<(i64, String)> = Vec::new();
        for round in 0..5 {
            let mut requests = Vec::new();
            for (number, member) in nodes.members.iter().enumerate() {
                requests.push(post(*member, &threads[number % 3], body("A reply")));
                if number % 4 == 0 {
                    let new = json!({ "title": "x", "body": "x" });
                    requests.push(post(*member, &general, new));
                }
            }
            requests.push(post(newbie, &threads[round % 3], body("Awaits approval")));
            for (number, (author, path)) in written.drain(..).enumerate() {
                match number % 3 {
                    0 => requests.push(delete(moderator, path)),
                    1 => requests
                        .push(Request { method: "PATCH", ..post(author, path, body("Edited")) }),
                    _ => {}
                }
            }
            let (answers, ()) = tokio::join!(nodes.send_all(requests), operate(&nodes));
            for (status, answer) in answers {
                assert!(matches!(status, 200 | 201 | 204), "{status} {answer}");
                if let (Some(post), Some(thread)) =
                    (answer["postId"].as_str(), answer["threadId"].as_str())
                {
                    let author = number(&answer["author"]["userId"]);
                    if author != newbie {
                        written.push((author, format!("/threads/{thread}/posts/{post}")));
                    }
                }
            }
            nodes.assert_counters().await;
        }
        // A whole thread is deleted while members reply to it.
        let id = nodes.demo.get("mod", &threads[0]).await.1["items"][0]["postId"].clone();
        let first = format!("{}/{}", threads[0], id.as_str().unwrap());
        let mut requests: Vec<_> =
            nodes.members.iter().map(|member| post(*member, &threads[0], body("x"))).collect();
        requests.insert(6, delete(moderator, first));
        let answers = nodes.send_all(requests).await;
        assert_eq!(answers[6].0, 204);
        let is_allowed = |(status, _): &(u16, Value)| matches!(status, 201 | 204 | 404);
        assert!(answers.iter().all(is_allowed), "{answers:?}");
        nodes.assert_counters().await;
    });
}

/// Approves the posts that await approval, and restores the deleted ones.
async fn operate(nodes: &TwoNodes) {
    let find = "SELECT id, state FROM post WHERE state <> 'visible' ORDER BY id LIMIT 6";
    let rows = nodes.client().await.query(find, &[]).await.unwrap();
    for row in rows {
        let post: i64 = row.get(0);
        match row.get::<_, String>(1).as_str() {
            "deleted" => nodes.demo.restore(post).await.unwrap(),
            _ => nodes.demo.approve(post).await.unwrap(),
        }
    }
}
