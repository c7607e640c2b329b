//! Changes that commands leave to batches.

use std::time::Instant;

use forum_api::store::ErasedMember;
use forum_api::store::sqlite::SqliteError;
use forum_api::test_util::audit_entry;
use forum_test_support::thread_log;
use tokio::time::{sleep, timeout};

use crate::board::posts::moderation::PostsOfMember;
use crate::board::removal::ContentOfMember;
use crate::demo::field_values;
use crate::prelude::*;
use crate::token_loading::create_token;

/// Number of authors of a thread, whose posts several batches recount.
const AUTHORS: i64 = 120;

/// Number of voters of an option, whose votes several batches remove.
const VOTERS: i64 = 300;

/// Adds members whose ids follow 1,000.
async fn add_members(demo: &Demo, count: i64) {
    demo.sql(&format!(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count})
        INSERT INTO member (id, username, groups, joined_at)
        SELECT 1000 + n, 'member' || n, 'members', 0 FROM number"
    ))
    .await;
}

/// Returns the sum of the counts that are stored for the added members.
async fn sum_of_stored_counts(demo: &Demo) -> i64 {
    let sum = "
        SELECT CAST(coalesce(sum(post_count), 0) AS BIGINT) AS value FROM member WHERE id > 1000";
    demo.query_value(sum).await
}

/// Asserts that the profiles of the added members show this number of posts.
async fn assert_profiles(demo: &Demo, expected: i64) {
    // The budget of a guest is smaller than the number of members.
    for member in (1_001..=1_000 + AUTHORS).step_by(10) {
        let (status, profile) = demo.get("guest", &format!("/members/{member}")).await;
        assert_eq!((status, &profile["postCount"]), (200, &json!(expected)), "{profile}");
    }
}

#[tokio::test]
async fn profiles_are_right_before_the_authors_of_a_hidden_thread_are_recounted() {
    let demo = Demo::new().await;
    add_members(&demo, AUTHORS).await;
    let posts = demo.tea_posts_path().await;
    for member in 1_001..=1_000 + AUTHORS {
        let reply = demo.api.as_member(&member.to_string()).post(&posts, &body("tea")).await;
        assert_eq!(reply.status, 201, "{reply:?}");
    }
    let list = demo.get("mod", &posts).await.1;
    let first = field_values(&list, "postId")[0].to_owned();
    assert_profiles(&demo, 1).await;

    let deleted = demo.as_member("mod").await.delete(&format!("{posts}/{first}")).await;
    assert_eq!(deleted.status, 204);
    assert_eq!(sum_of_stored_counts(&demo).await, AUTHORS);
    assert_profiles(&demo, 0).await;
    assert!(demo.board.run_batch(BatchKind::Recount).await.unwrap());
    let rest = sum_of_stored_counts(&demo).await;
    assert!((1..AUTHORS).contains(&rest), "{rest}");
    assert_profiles(&demo, 0).await;

    demo.restore(first.parse().unwrap()).await.unwrap();
    assert_profiles(&demo, 1).await;
    while demo.board.run_batch(BatchKind::Recount).await.unwrap() {
        assert_profiles(&demo, 1).await;
    }
    assert_eq!(sum_of_stored_counts(&demo).await, AUTHORS);
    let marked: i64 = demo.query_value("SELECT count(*) AS value FROM thread_recount").await;
    assert_eq!(marked, 0);

    // A board looks for changes every five seconds, but does not wait as long between two batches.
    let deleted = demo.as_member("mod").await.delete(&format!("{posts}/{first}")).await;
    assert_eq!(deleted.status, 204);
    let batches = demo.board.run_batches_periodically();
    let done = async {
        while sum_of_stored_counts(&demo).await > 0 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        () = batches => unreachable!(),
        done = timeout(Duration::from_secs(9), done) => done.unwrap(),
    }
}

/// The cost of a profile does not grow with the number of threads that wait for a recount.
#[tokio::test]
async fn a_profile_includes_the_next_thousand_threads_that_wait() {
    let demo = Demo::new().await;
    add_members(&demo, 1).await;
    for statement in [
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1001)
        INSERT INTO thread (id, forum_id, title, title_words, author_id, state, created_at, last_activity_at)
        SELECT 1000000 + n, forum.id, 'tea', 'tea', 1001, 'deleted', 0, 0
        FROM number JOIN forum ON forum.title = 'General'",
        "INSERT INTO thread_author (thread_id, author_id, post_count, counted)
        SELECT id, 1001, 1, 1 FROM thread WHERE id > 1000000",
        "INSERT INTO thread_recount (thread_id, counts) SELECT id, FALSE FROM thread WHERE id > 1000000",
        "UPDATE member SET post_count = 1001 WHERE id = 1001",
    ] {
        demo.sql(statement).await;
    }
    let shown = async || demo.get("guest", "/members/1001").await.1["postCount"].clone();
    assert_eq!(shown().await, json!(1));
    assert!(demo.board.run_batch(BatchKind::Recount).await.unwrap());
    assert_eq!(sum_of_stored_counts(&demo).await, 1000);
    assert_eq!(shown().await, json!(0));
}

#[tokio::test]
async fn a_thread_of_a_single_author_is_counted_when_it_is_hidden_or_shown() {
    let demo = Demo::new().await;
    add_members(&demo, 1).await;
    let author = demo.api.as_member("1001");
    let threads = demo.threads_path("General").await;
    let started = author.post(&threads, &json!({ "title": "tea", "body": "tea" })).await;
    assert_eq!(started.status, 201, "{started:?}");
    let posts = format!("/threads/{}/posts", started.json()["threadId"].as_str().unwrap());
    demo.advance(60);
    let reply = author.post(&posts, &body("tea")).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let list = demo.get("mod", &posts).await.1;
    let first = field_values(&list, "postId")[0].to_owned();
    assert_eq!(sum_of_stored_counts(&demo).await, 2);

    let deleted = demo.as_member("mod").await.delete(&format!("{posts}/{first}")).await;
    assert_eq!(deleted.status, 204);
    assert_eq!(sum_of_stored_counts(&demo).await, 0);
    assert!(!demo.board.run_batch(BatchKind::Recount).await.unwrap());
    demo.restore(first.parse().unwrap()).await.unwrap();
    assert_eq!(sum_of_stored_counts(&demo).await, 2);
    assert!(!demo.board.run_batch(BatchKind::Recount).await.unwrap());

    let new = json!({ "title": "tea", "body": "tea" });
    let (status, waiting) = demo.post("newbie", &threads, new).await;
    assert_eq!(status, 201, "{waiting}");
    demo.approve(number(&waiting["firstPostId"])).await.unwrap();
    assert!(!demo.board.run_batch(BatchKind::Recount).await.unwrap(), "its first approval");
}

/// Creates a thread of alice with a poll of three options. Returns the path of the poll in its thread, and the poll.
async fn create_poll(demo: &Demo, max_choices: u32) -> (String, Value) {
    let new = json!({
        "title": "tea", "body": "tea",
        "poll": { "question": "tea", "options": ["a", "b", "c"], "maxChoices": max_choices },
    });
    let thread = demo.post("alice", &demo.threads_path("General").await, new).await.1;
    let path = format!("/threads/{}/poll", thread["threadId"].as_str().unwrap());
    let poll = demo.get("alice", &path).await.1;
    (path, poll)
}

fn poll_path(poll: &Value) -> String {
    format!("/polls/{}", poll["pollId"].as_str().unwrap())
}

/// Removes the first option as an administrator. Returns the poll without it.
async fn remove_first_option(demo: &Demo, mut poll: Value) -> Value {
    let path = poll_path(&poll);
    let options = poll["options"].as_array_mut().unwrap();
    options.remove(0);
    for option in options {
        option.as_object_mut().unwrap().remove("votes");
    }
    let edit = json!({ "options": poll["options"] });
    let edited = demo.as_member("admin").await.patch(&path, &edit).await;
    assert_eq!(edited.status, 200, "{edited:?}");
    edited.json()
}

#[tokio::test]
async fn a_removed_option_is_not_shown_while_its_votes_are_removed() {
    let demo = Demo::new().await;
    add_members(&demo, VOTERS).await;
    let (path, poll) = create_poll(&demo, 2).await;
    let votes = format!("{}/votes", poll_path(&poll));
    let [first, second, _] = ["0", "1", "2"]
        .map(|place| poll.pointer(&format!("/options/{place}/optionId")).unwrap().clone());
    for member in 1_001..=1_000 + VOTERS {
        // Some members have also voted for an option that stays.
        let mut chosen = vec![&first];
        chosen.extend((member % 3 == 0).then_some(&second));
        let voter = demo.api.as_member(&member.to_string());
        let vote = voter.post(&votes, &json!({ "optionIds": chosen })).await;
        assert_eq!(vote.status, 201, "{vote:?}");
    }
    let edited = remove_first_option(&demo, poll).await;
    assert_eq!(edited["options"].as_array().unwrap().len(), 2);

    let voter = demo.api.as_member(&(1_000 + VOTERS).to_string());
    assert_eq!(voter.get(&path).await.json()["ownVote"], Value::Null);
    let again = voter.post(&votes, &json!({ "optionIds": [second] })).await;
    assert_eq!(again.status, 201, "{again:?}");
    let mut batches = 0;
    while demo.board.run_batch(BatchKind::Votes).await.unwrap() {
        batches += 1;
    }
    assert!(batches > 1, "{batches} batches");
    let poll = demo.get("alice", &path).await.1;
    let expected = VOTERS / 3 + 1;
    assert_eq!(poll["totalVotes"], expected, "{poll}");
    assert_eq!(poll["options"][0]["votes"], expected, "{poll}");
    let rows: i64 = demo
        .query_value("SELECT (SELECT count(*) FROM ballot) + (SELECT count(*) FROM vote) AS value")
        .await;
    assert_eq!(rows, 2 * expected);
}

#[tokio::test]
async fn votes_for_a_removed_option_do_not_count_while_they_are_removed() {
    let demo = Demo::new().await;
    add_members(&demo, VOTERS).await;
    let (path, poll) = create_poll(&demo, 1).await;
    let votes = format!("{}/votes", poll_path(&poll));
    let [first, second] = ["0", "1"]
        .map(|place| poll.pointer(&format!("/options/{place}/optionId")).unwrap().clone());
    let last = 1_000 + VOTERS;
    for member in 1_001..=last {
        let voter = demo.api.as_member(&member.to_string());
        let vote = voter.post(&votes, &json!({ "optionIds": [first] })).await;
        assert_eq!(vote.status, 201, "{vote:?}");
    }
    let edited = remove_first_option(&demo, poll).await;
    assert_eq!(edited["totalVotes"], 0, "{edited}");
    let writer = demo.as_member("alice").await;
    let question = json!({ "question": "cup" });
    let edited_by_writer = writer.patch(&poll_path(&edited), &question).await;
    assert_eq!(edited_by_writer.status, 200, "{edited_by_writer:?}");
    // A member whose vote is removed, and one who has not voted.
    for (member, total) in [(last, 1), (demo.id("bob").await, 2)] {
        let voter = demo.api.as_member(&member.to_string());
        let voted = voter.post(&votes, &json!({ "optionIds": [second] })).await;
        assert_eq!(voted.json()["totalVotes"], total, "{voted:?}");
        assert_eq!(demo.get("alice", &path).await.1["totalVotes"], total);
    }
    demo.run_batches().await;
    assert_eq!(demo.get("alice", &path).await.1["totalVotes"], 2);
}

/// A page reads at most 128 subscriptions. The next page begins with the first subscription that was not read: here to
/// thread 472.
#[tokio::test]
async fn all_visible_targets_between_hidden_ones_are_listed() {
    let demo = Demo::new().await;
    demo.sql(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 600)
        INSERT INTO thread (
            id, forum_id, title, title_words, state, created_at, last_activity_at, first_post_id
        )
        SELECT
            1000 + n, forum.id, 'thread ' || n, '', CASE WHEN n IN (10, 300, 472) THEN 'visible' ELSE 'deleted' END,
            n, n, 1000 + n
        FROM number JOIN forum ON forum.title = 'General'",
    )
    .await;
    demo.sql(
        "INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
        SELECT member.id, thread.forum_id, 'thread', thread.id, thread.created_at
        FROM thread JOIN member ON member.username = 'bob' WHERE thread.id > 1000",
    )
    .await;
    for query in ["limit=20", "target=thread", "limit=1"] {
        let pages = demo.pages("bob", &format!("/subscriptions?{query}")).await;
        let titles: Vec<_> = pages.iter().flat_map(|page| field_values(page, "title")).collect();
        assert_eq!(titles, ["thread 472", "thread 300", "thread 10"], "{query}");
        assert!(pages.len() < 10, "{query}: {} pages", pages.len());
    }
}

/// Rows that refer to bob, more of each kind than one batch changes, except for the session.
const ROWS_OF_BOB: &str = "
    CREATE TEMPORARY TABLE number AS
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 250) SELECT n FROM number;
    CREATE TEMPORARY TABLE bob AS SELECT id FROM member WHERE username = 'bob';
    INSERT INTO thread (
        id, forum_id, title, title_words, author_id, state, created_at, last_activity_at, first_post_id, last_author_id
    )
    SELECT
        5000 + n, 2, 'thread', '', CASE WHEN n > 100 THEN bob.id END, 'deleted', n, n, 5000 + n, bob.id
    FROM number CROSS JOIN bob;
    INSERT INTO post (
        id, thread_id, number, author_id, edited_by, state, created_at, written_at, body, body_html, body_words
    )
    SELECT id, id, 1, author_id, last_author_id, state, created_at, created_at, 'tea', 'tea', '' FROM thread WHERE id > 5000
    UNION ALL
    SELECT id + 1000, id, 2, last_author_id, NULL, state, created_at, created_at, 'tea', 'tea', '' FROM thread WHERE id > 5000;
    INSERT INTO thread_author (thread_id, author_id, post_count, counted)
    SELECT id, last_author_id, 1, 0 FROM thread WHERE id > 5000;
    INSERT INTO poll (id, thread_id, question, max_choices, can_change_vote) SELECT 5000 + n, 5000 + n, '', 1, TRUE FROM number;
    INSERT INTO ballot (poll_id, member_id) SELECT 5000 + n, bob.id FROM number CROSS JOIN bob;
    INSERT INTO ballot (poll_id, member_id) SELECT 5250, 1000 + n FROM number;
    INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
    SELECT bob.id, 2, 'thread', 5000 + n, n FROM number CROSS JOIN bob;
    INSERT INTO rating (member_id, rater_id, points, comment, created_at)
    SELECT bob.id, 1000 + n, 1, '', n FROM number CROSS JOIN bob
    UNION ALL
    SELECT 1000 + n, bob.id, 1, '', n FROM number CROSS JOIN bob;
    INSERT INTO member_ignore (member_id, ignored_id) SELECT 1000 + n, bob.id FROM number CROSS JOIN bob;
    INSERT INTO message (id, sender_id, subject, body, body_html, receipt_requested)
    SELECT 5000 + n, bob.id, '', '', '', FALSE FROM number CROSS JOIN bob;
    INSERT INTO message_copy (message_id, owner_id, folder, sent_at)
    SELECT 5000 + n, bob.id, 'sent', n FROM number CROSS JOIN bob WHERE n > 50
    UNION ALL
    SELECT 5000 + n, 1000 + n, 'inbox', n FROM number WHERE n > 100;
    INSERT INTO message (id, subject, body, body_html, receipt_requested)
    SELECT 6000 + n, '', '', '', FALSE FROM number;
    INSERT INTO message_copy (message_id, owner_id, folder, sent_at)
    SELECT 6000 + n, bob.id, 'inbox', n FROM number CROSS JOIN bob;
    INSERT INTO session (hash, member_id, password, began_at, used_at) SELECT x'01', id, x'02', 0, 0 FROM bob;
    DROP TABLE number; DROP TABLE bob;";

/// The rows that members have few of, or that a limit bounds.
const FEW: [&str; 4] = ["forum_moderator", "member_edit", "session", "member_ignore.member_id"];

/// Columns that name another member in rows that are removed with bob.
const REMOVED_WITH_BOB: [&str; 2] = ["rating.rater_id", "member_ignore.member_id"];

#[tokio::test]
async fn the_batches_of_an_erasure_leave_few_rows_to_the_transaction_that_removes_the_account() {
    for with_posts in [false, true] {
        // The catalogue of SQLite names the references.
        let storage = Backend::Memory.create_storage().await;
        let demo = Demo::in_storage(storage, Language::English).await;
        add_members(&demo, 250).await;
        demo.sql(ROWS_OF_BOB).await;
        let bob = demo.id("bob").await;
        demo.sql(&format!(
            "UPDATE post SET state = 'deleted' WHERE author_id = {bob};
            UPDATE thread SET state = 'deleted' WHERE author_id = {bob}"
        ))
        .await;
        let mut references = demo
            .query_values::<String>(
                "SELECT tables.name || '.' || reference.\"from\" AS value
                FROM sqlite_schema AS tables JOIN pragma_foreign_key_list(tables.name) AS reference
                WHERE reference.\"table\" = 'member'",
            )
            .await;
        assert!(references.len() >= 15, "{references:?}");
        // The column has no foreign key.
        references.push("thread.last_author_id".into());
        let count_rows = async |reference: &str, operator: &str| {
            let (table, column) = reference.split_once('.').unwrap();
            let query =
                format!("SELECT count(*) AS value FROM {table} WHERE {column} {operator} {bob}");
            demo.query_value::<i64>(query.leak()).await
        };
        let mut of_others = Vec::new();
        let mut counts = Vec::new();
        for reference in &references {
            of_others.push(count_rows(reference, "<>").await);
            let (table, column) = reference.split_once('.').unwrap();
            let position = counts.len();
            counts.push(format!("SELECT {position} AS position, count(*) AS value FROM {table} WHERE {column} = {bob}"));
        }
        let all_counts: &str = (counts.join(" UNION ALL ") + " ORDER BY position").leak();
        let mut before = demo.query_values::<i64>(all_counts).await;
        let mut rest = Some(ContentOfMember::new(bob, with_posts));
        let mut batches = 0;
        while let Some(content) = rest {
            let change = demo.board.write(move |tx, _| Box::pin(content.remove_batch(tx)));
            rest = change.await.unwrap();
            batches += 1;
            let after = demo.query_values::<i64>(all_counts).await;
            for ((reference, before), after) in references.iter().zip(before).zip(&after) {
                assert!(before - after <= 100, "{reference}: {before} and then {after} rows");
            }
            before = after;
        }
        assert!(batches > 25, "{batches} batches");
        for (reference, before) in references.iter().zip(of_others) {
            let count = count_rows(reference, "=").await;
            let is_few = FEW.iter().any(|few| reference.starts_with(few));
            assert!(count == 0 || is_few, "{reference}: {count} rows");
            if !with_posts && !REMOVED_WITH_BOB.contains(&reference.as_str()) {
                let left = count_rows(reference, "<>").await;
                assert_eq!(left, before, "{reference} of other members");
            }
        }
        let left = "
            SELECT (SELECT count(*) FROM message WHERE id > 5000) * 1000
                + (SELECT count(*) FROM thread WHERE id > 5000) AS value";
        let threads = if with_posts { 100 } else { 250 };
        assert_eq!(demo.query_value::<i64>(left).await, 150 * 1000 + threads);
        demo.board.erase(bob, with_posts, audit_entry()).await.unwrap();
    }
}

/// Runs the batches of an erasure of bob. Asserts that none of them reduces the value of a query by more than `most`, and
/// that the value is 0 after the last one.
async fn assert_batches(demo: &Demo, with_posts: bool, query: &'static str, most: i64) {
    let mut before: i64 = demo.query_value(query).await;
    assert!(before > 2 * most, "{query}: {before}");
    let mut rest = Some(ContentOfMember::new(demo.id("bob").await, with_posts));
    while let Some(content) = rest {
        let change = demo.board.write(move |tx, _| Box::pin(content.remove_batch(tx)));
        rest = change.await.unwrap();
        let after: i64 = demo.query_value(query).await;
        assert!(before - after <= most, "{query}: {before} before a batch, {after} after it");
        before = after;
    }
    assert_eq!(before, 0, "{query}");
}

/// Other members rate a reply of bob, the first post of a thread of bob and a reply to it, and subscribe to the thread.
#[tokio::test]
async fn a_batch_of_an_erasure_removes_few_ratings_and_subscriptions_of_other_members() {
    for query in [
        "SELECT count(*) AS value FROM rating WHERE rater_id > 1000",
        "SELECT count(*) AS value FROM subscription WHERE member_id > 1000",
    ] {
        let demo = Demo::new().await;
        add_members(&demo, 250).await;
        demo.set(settings::POST_INTERVAL.key, "0").await;
        let new = json!({ "title": "tea", "body": "tea" });
        let thread = demo.post("bob", &demo.threads_path("General").await, new).await.1;
        let of_bob = demo.post("bob", &demo.tea_posts_path().await, body("tea")).await;
        let of_alice = demo.post("alice", &posts_path(&thread), body("tea")).await;
        assert_eq!([of_bob.0, of_alice.0], [201, 201]);
        demo.sql(
            "INSERT INTO rating (member_id, rater_id, post_id, points, comment, created_at)
            SELECT post.author_id, member.id, post.id, 1, '', 0 FROM post CROSS JOIN member
            WHERE post.body = 'tea' AND member.id > 1000;
            INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
            SELECT member.id, thread.forum_id, 'thread', thread.id, 0 FROM thread CROSS JOIN member
            WHERE thread.title = 'tea' AND member.id > 1000",
        )
        .await;
        delete_posts_of_bob(&demo).await;
        demo.run_batches().await;
        assert_batches(&demo, true, query, 100).await;
    }
}

/// The index of a long post without author is written again.
#[tokio::test]
async fn a_batch_of_an_erasure_removes_the_author_of_one_long_post() {
    let demo = Demo::new().await;
    let words = "tea ".repeat(4_999) + "team";
    demo.sql(&format!(
        "UPDATE post SET author_id = {}, body_words = '{words}'
        WHERE id IN (SELECT id FROM post ORDER BY id LIMIT 4)",
        demo.id("bob").await
    ))
    .await;
    let query = "
        SELECT count(*) AS value FROM post
        WHERE author_id IS NOT NULL AND length(body_words) = 20000";
    assert_batches(&demo, false, query, 1).await;
}

/// Queries for the numbers of responses and deliveries of the member, and of others.
const ROWS_OF_MEMBERS: [&str; 4] = [
    "SELECT count(*) AS value FROM forum_api_idempotency_keys WHERE namespace = 'own'",
    "SELECT count(*) AS value FROM forum_api_deliveries WHERE endpoint = 'whe_own'",
    "SELECT count(*) AS value FROM forum_api_idempotency_keys WHERE namespace = 'others'",
    "SELECT count(*) AS value FROM forum_api_deliveries WHERE endpoint = 'whe_others'",
];

/// Without the batches, the transaction that removes the account removes all rows, while other writes wait.
#[tokio::test]
async fn batches_of_an_erasure_remove_100_responses_and_100_deliveries_of_the_member() {
    let demo = Demo::new().await;
    let bytes = demo.for_backend("x'00'", "CAST('\\x00' AS BYTEA)");
    demo.sql(&format!(
        "INSERT INTO forum_api_tokens (lookup, digest, owner, label, scopes, created_at)
        VALUES ('own', {bytes}, '7001', '', '', 0), ('others', {bytes}, '7002', '', '', 0);
        INSERT INTO forum_api_endpoints (id, url, topics, owner, enabled, created_at, secret, version)
        VALUES
            ('whe_own', '', '*', '7001', TRUE, 0, {bytes}, 1), ('whe_others', '', '*', '7002', TRUE, 0, {bytes}, 1);
        INSERT INTO forum_api_events (id, topic, occurred_at, body, fanned_out_at)
        VALUES ('evt_1', 'post.created', 0, '{{}}', 0);
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 150)
        INSERT INTO forum_api_idempotency_keys (namespace, key, request, began_at)
        SELECT token.lookup, CAST(n AS TEXT), {bytes}, 0 FROM number CROSS JOIN forum_api_tokens AS token
        WHERE token.owner IN ('7001', '7002');
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 150)
        INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts)
        SELECT endpoint.id || '_' || n, 'evt_1', 'post.created', endpoint.id, 0, 'dead', 1
        FROM number CROSS JOIN forum_api_endpoints AS endpoint WHERE endpoint.owner IN ('7001', '7002')"
    ))
    .await;
    for left in [50, 0, 0] {
        for batch in ErasedMember::new(UserId::from(7001), "zelda").batches() {
            assert_eq!(batch.parameters, ["7001"]);
            demo.sql(&batch.sql.replace("$1", "'7001'")).await;
        }
        let mut counts = Vec::new();
        for query in ROWS_OF_MEMBERS {
            counts.push(demo.query_value::<i64>(query).await);
        }
        assert_eq!(counts, [left, left, 150, 150]);
    }
}

/// Each stored response that may contain the member is searched.
#[tokio::test]
async fn a_batch_of_stored_responses_ends_before_four_mebibytes() {
    let demo = Demo::new().await;
    let request = demo.for_backend("x'00'", "CAST('\\x00' AS BYTEA)");
    for (began_at, bytes) in [(1, 3_000_000), (2, 3_000_000), (3, 10), (4, 5_000_000)] {
        let response = demo.for_backend(
            format!("zeroblob({bytes})"),
            format!("CAST(repeat('x', {bytes}) AS BYTEA)"),
        );
        demo.sql(&format!(
            "INSERT INTO forum_api_idempotency_keys (namespace, key, request, began_at, ended, status, body)
            VALUES ('others', '{began_at}', {request}, {began_at}, TRUE, 201, {response})"
        ))
        .await;
    }
    for (from, until) in [("0", Some(1)), ("2", Some(3)), ("4", Some(4)), ("5", None)] {
        let next = ErasedMember::NEXT_RESPONSES_SQL.replace("$1", from);
        let query = format!("SELECT began_at AS value FROM ({next}) AS page");
        let found: Option<i64> = demo.query_value(query.leak()).await;
        assert_eq!(found, until, "{from}");
    }
}

/// Deletes all posts of bob, as a ban does before an erasure with posts.
async fn delete_posts_of_bob(demo: &Demo) {
    let bob = demo.id("bob").await;
    let mut rest = Some(PostsOfMember::to_delete(bob, Timestamp::from_millis(0)));
    while let Some(posts) = rest {
        let deletion = demo.board.write(move |tx, events| Box::pin(posts.change_batch(tx, events)));
        rest = deletion.await.unwrap().1;
    }
}

/// The thread has more replies than one batch removes.
#[tokio::test]
async fn an_erasure_with_posts_removes_a_thread_with_the_replies_of_others() {
    let demo = Demo::new().await;
    add_members(&demo, AUTHORS).await;
    let new = json!({ "title": "tea", "body": "tea" });
    let thread = demo.post("bob", &demo.threads_path("General").await, new).await.1;
    let posts = posts_path(&thread);
    for member in 1_001..=1_000 + AUTHORS {
        let reply = demo.api.as_member(&member.to_string()).post(&posts, &body("tea")).await;
        assert_eq!(reply.status, 201, "{reply:?}");
    }
    let bob = demo.id("bob").await;
    for minutes in [0, 60] {
        demo.sql(&stored_responses(&demo, &thread, minutes)).await;
    }
    delete_posts_of_bob(&demo).await;
    demo.board.erase(bob, true, audit_entry()).await.unwrap();
    assert_eq!(demo.get("admin", &posts).await.0, 404);
    let left: i64 =
        demo.query_value("SELECT count(*) AS value FROM post WHERE author_id > 1000").await;
    assert_eq!(left, 0);
    // The replies of others were in the search index, although their thread was deleted.
    let indexed = demo.for_backend(
        "SELECT count(*) AS value FROM post_text_docsize",
        "SELECT count(*) AS value FROM post_text",
    );
    let visible = "SELECT count(*) AS value FROM post WHERE state = 'visible'";
    assert_eq!(demo.query_value::<i64>(indexed).await, demo.query_value::<i64>(visible).await);
    assert_profiles(&demo, 0).await;
    assert_eq!(sum_of_stored_counts(&demo).await, 0);
    // The keys stay, so that a repeat of a request does nothing.
    let forgotten = "
        SELECT count(*) AS value FROM forum_api_idempotency_keys
        WHERE status IS NULL AND location IS NULL AND body IS NULL
            AND forum_id IS NULL AND thread_id IS NULL AND post_id IS NULL";
    assert_eq!(demo.query_value::<i64>(forgotten).await, 2 * (AUTHORS + 3));
    let others = "
        SELECT key AS value FROM forum_api_idempotency_keys WHERE status = 201 ORDER BY began_at DESC, key";
    assert_eq!(
        demo.query_values::<String>(others).await,
        [
            "0 message",
            "0 post of others",
            "0 thread of others",
            "60 message",
            "60 post of others",
            "60 thread of others",
        ]
    );
}

/// A request of another member stores its response while the member is removed from the events.
#[tokio::test]
async fn an_erasure_forgets_a_response_that_is_stored_meanwhile() {
    // The trigger has the syntax of SQLite.
    let storage = Backend::Memory.create_storage().await;
    let demo = Demo::in_storage(storage, Language::English).await;
    demo.add_endpoint().await;
    assert_eq!(demo.post("bob", &demo.tea_posts_path().await, body("tea")).await.0, 201);
    let began_at = demo.clock.now().saturating_sub(Duration::from_secs(4 * 60)).as_millis();
    demo.sql(&format!(
        "CREATE TRIGGER slow_request AFTER UPDATE ON forum_api_events BEGIN
            INSERT INTO forum_api_idempotency_keys (
                namespace, key, request, began_at, ended, status, body, thread_id
            )
            VALUES ('others', NEW.id, x'00', {began_at}, TRUE, 201, x'00', 'removed');
        END"
    ))
    .await;
    demo.board.erase(demo.id("bob").await, false, audit_entry()).await.unwrap();
    let statuses = "SELECT status AS value FROM forum_api_idempotency_keys";
    assert_eq!(demo.query_values::<Option<i64>>(statuses).await, [None]);
}

/// One read returns all events, and the last transaction finds that none follows.
#[tokio::test]
async fn an_erasure_reads_each_page_of_events_once() {
    let _statements = thread_log::record_statements();
    // The log contains the statements of SQLite.
    let storage = Backend::Memory.create_storage().await;
    let demo = Demo::in_storage(storage, Language::English).await;
    demo.add_endpoint().await;
    demo.set(settings::POST_INTERVAL.key, "0").await;
    let tea = demo.tea_posts_path().await;
    for _ in 0..3 {
        assert_eq!(demo.post("bob", &tea, body("tea")).await.0, 201);
    }
    let bob = demo.id("bob").await;
    let BoardDatabase::Sqlite(database) = demo.database() else {
        panic!("the database is in Postgres");
    };
    let take_log =
        async || database.read(|_| Ok::<_, SqliteError>(thread_log::take())).await.unwrap();
    take_log().await;
    demo.board.erase(bob, false, audit_entry()).await.unwrap();
    let log = take_log().await;
    let is_page = |line: &&str| {
        line.contains("executed statement") && line.contains("FROM forum_api_events WHERE number")
    };
    assert_eq!(log.lines().filter(is_page).count(), 2, "{log}");
}

/// The last transaction delays other writes. Its statement about addresses precedes those that remove responses and deliveries.
#[tokio::test]
async fn batches_of_an_erasure_remove_the_responses_and_deliveries_of_the_member() {
    // The trigger has the syntax of SQLite.
    let storage = Backend::Memory.create_storage().await;
    let demo = Demo::in_storage(storage, Language::English).await;
    demo.add_endpoint().await;
    assert_eq!(demo.post("bob", &demo.tea_posts_path().await, body("tea")).await.0, 201);
    let bob = demo.id("bob").await;
    create_token(demo.database(), bob).await;
    demo.sql(&format!(
        "INSERT INTO forum_api_audit_log (id, occurred_at, actor, origin, action, target, details, count)
        VALUES ('aud_x', 1, '{bob}', 'panel', 'token.revoked', 'x', '', 1);
        INSERT INTO forum_api_idempotency_keys (namespace, key, request, began_at)
        SELECT lookup, 'x', x'00', 1 FROM forum_api_tokens WHERE owner = '{bob}';
        UPDATE forum_api_endpoints SET owner = '{bob}';
        INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts)
        SELECT 'dlv_x', event.id, event.topic, endpoint.id, 1, 'dead', 6
        FROM forum_api_events AS event CROSS JOIN forum_api_endpoints AS endpoint LIMIT 1;
        CREATE TABLE row_count (responses INTEGER, deliveries INTEGER);
        CREATE TRIGGER count_rows AFTER UPDATE OF address ON forum_api_audit_log BEGIN
            INSERT INTO row_count SELECT
                (SELECT count(*) FROM forum_api_idempotency_keys), (SELECT count(*) FROM forum_api_deliveries);
        END;
        UPDATE forum_api_audit_log SET address = NULL WHERE id = 'aud_x'"
    ))
    .await;
    demo.board.erase(bob, false, audit_entry()).await.unwrap();
    let counts = "SELECT responses || ' and ' || deliveries AS value FROM row_count ORDER BY rowid";
    assert_eq!(demo.query_values::<String>(counts).await, ["1 and 1", "0 and 0"]);
}

/// The time of a stored response is that of Postgres.
#[test]
fn an_erasure_by_a_clock_that_is_ahead_forgets_a_response_that_is_stored_meanwhile() {
    run_with_postgres(async {
        let demo = Demo::in_postgres().await;
        demo.add_endpoint().await;
        assert_eq!(demo.post("bob", &demo.tea_posts_path().await, body("tea")).await.0, 201);
        demo.advance(100 * 365 * 24 * 60 * 60);
        demo.sql(
            "CREATE FUNCTION store_response() RETURNS TRIGGER LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO forum_api_idempotency_keys (
                    namespace, key, request, began_at, ended, status, body, thread_id
                )
                VALUES (
                    'others', new.id, '\\x00', extract(epoch FROM clock_timestamp()) * 1000, TRUE, 201, '\\x00', '0'
                );
                RETURN NULL;
            END $$;
            CREATE TRIGGER slow_request AFTER UPDATE ON forum_api_events
            FOR EACH ROW EXECUTE FUNCTION store_response()",
        )
        .await;
        demo.board.erase(demo.id("bob").await, false, audit_entry()).await.unwrap();
        let statuses = "SELECT CAST(status AS BIGINT) AS value FROM forum_api_idempotency_keys";
        assert_eq!(demo.query_values::<Option<i64>>(statuses).await, [None]);
    });
}

/// The pause lets other processes write.
#[test]
fn an_erasure_pauses_for_as_long_as_its_batches_take() {
    run_with_postgres(async {
        let demo = Demo::in_postgres().await;
        let bob = demo.id("bob").await;
        demo.sql(&format!(
            "DELETE FROM subscription WHERE member_id = {bob};
            INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
            VALUES ({bob}, 2, 'forum', 2, 0);
            CREATE FUNCTION delay() RETURNS TRIGGER LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_sleep(0.3); RETURN OLD; END';
            CREATE TRIGGER slow BEFORE DELETE ON subscription FOR EACH ROW EXECUTE FUNCTION delay()"
        ))
        .await;
        let began = Instant::now();
        demo.board.erase(bob, false, audit_entry()).await.unwrap();
        let elapsed = began.elapsed();
        assert!(elapsed >= Duration::from_millis(600), "{elapsed:?}");
    });
}

/// Returns a statement that stores responses to requests that began this number of minutes ago: about each post of a thread,
/// about the thread, about a post whose thread the response does not name, about another thread and a post in it, and about
/// a message.
fn stored_responses(demo: &Demo, thread: &Value, minutes: u64) -> String {
    let bytes = demo.for_backend("x'00'", "CAST('\\x00' AS BYTEA)");
    let began_at = demo.clock.now().saturating_sub(Duration::from_secs(60 * minutes)).as_millis();
    let [id, first] = ["threadId", "firstPostId"].map(|name| thread[name].as_str().unwrap());
    format!(
        "INSERT INTO forum_api_idempotency_keys (
            namespace, key, request, began_at, ended, status, location, body, forum_id, thread_id, post_id
        )
        SELECT
            'others', '{minutes} ' || about, {bytes}, {began_at}, TRUE, 201, '/', {bytes}, '2',
            named_thread, named_post
        FROM (
            SELECT
                CAST(id AS TEXT) AS about, CAST(thread_id AS TEXT) AS named_thread, CAST(id AS TEXT) AS named_post
            FROM post WHERE thread_id = {id}
            UNION ALL SELECT 'thread', '{id}', NULL
            UNION ALL SELECT 'post', NULL, '{first}'
            UNION ALL SELECT 'thread of others', '16', NULL
            UNION ALL SELECT 'post of others', '16', '54'
            UNION ALL SELECT 'message', NULL, NULL
        ) AS response"
    )
}

/// The first transaction writes members only. The sequences are ahead of the rows after a restore.
#[test]
fn generated_content_does_not_get_ids_that_were_assigned() {
    run_with_postgres(async {
        let demo = Demo::in_postgres().await;
        for table in ["thread", "post"] {
            let advance = format!("SELECT setval(pg_get_serial_sequence('{table}', 'id'), 1000)");
            demo.sql(&advance).await;
        }
        demo.generate(ContentSize { members: 5_000, threads: 1, posts: 1 }).await;
        for table in ["thread", "post"] {
            let last = format!("SELECT max(id) AS value FROM {table}").leak();
            assert_eq!(demo.query_value::<i64>(last).await, 1001, "{table}");
        }
    });
}
