//! Query plans: lists scan an index from the page key on, so that the cost of a page does not depend on its position.

use forum_api::store::{sqlite, sqlite_schema};
use rusqlite::{StatementStatus, named_params};

use super::actor::LOAD_TOKEN;
use super::{
    messages, polls, post_insert, posts, schema, search, sessions, subscriptions, threads,
};

/// Each query searches the index, without sorting and without a full table scan.
#[test]
fn lists_scan_an_index() {
    let (posts, _) = plan(&posts::PAGE)
        .split_once("SCAN (subquery")
        .map(to_strings)
        .unwrap();
    for (plan, index) in [
        (
            plan(&threads::LIST),
            "thread USING INDEX thread_by_activity (forum_id=? AND last_activity_at>?",
        ),
        (
            posts,
            "post USING INDEX post_by_order (thread_id=? AND ordered_at>?",
        ),
        (
            plan(&polls::OF_THREAD),
            "option USING INDEX poll_option_by_position (poll_id=?",
        ),
        (
            plan(&subscriptions::ALL),
            "subscription USING INDEX subscription_by_time (member_id=? AND created_at<?",
        ),
        (
            plan(&subscriptions::OF_TARGET),
            "subscription USING INDEX subscription_by_target (member_id=? AND target=? AND created_at<?",
        ),
        (
            plan(&messages::LIST[0]),
            "copy USING INDEX message_copy_by_time (owner_id=? AND folder=? AND sent_at<?",
        ),
        (
            plan(&messages::LIST[0]),
            "inbox USING INDEX message_copy_in_inboxes (message_id=?",
        ),
        (
            plan(&messages::FILTERED[0]),
            "copy USING INDEX message_copy_by_reading (owner_id=? AND folder=? AND <expr>=? AND sent_at<?",
        ),
        (
            plan(&messages::FILTERED[0]),
            "inbox USING INDEX message_copy_in_inboxes (message_id=?",
        ),
        (
            plan(sessions::SWEEP),
            "session USING COVERING INDEX session_by_use (used_at<?",
        ),
    ] {
        assert_index_scan(&plan, index);
    }
}

/// Reads one token, one member and all forums in order.
#[test]
fn a_token_is_loaded_with_its_owner_by_primary_keys() {
    let plan = plan(LOAD_TOKEN[0]);
    for step in [
        "SEARCH token USING PRIMARY KEY (lookup=?)",
        "SEARCH member USING INTEGER PRIMARY KEY (rowid=?)",
        "SCAN forum",
    ] {
        assert!(plan.contains(step), "{plan}");
    }
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

/// Only the rows of a page are sorted.
#[test]
fn a_page_of_posts_is_read_by_id() {
    let (_, page) = plan(&posts::PAGE)
        .split_once("SCAN (subquery")
        .map(to_strings)
        .unwrap();
    let page = page.replace("USE TEMP B-TREE FOR ORDER BY", "");
    assert_index_scan(&page, "post USING INTEGER PRIMARY KEY (rowid=?)");
}

#[test]
fn searches_and_counts_use_only_an_index() {
    for query in search::SCANS.map(|scan| scan()) {
        let plan = plan(query);
        let is_scan = plan.starts_with("SCAN post_text VIRTUAL TABLE INDEX");
        assert!(is_scan && plan.lines().count() == 1, "{plan}");
    }
    for (query, index) in [
        (
            search::EARLIER_ON_SQLITE,
            "SCAN post_text EXISTS VIRTUAL TABLE INDEX",
        ),
        (
            search::HIDDEN_LONG_THREADS,
            "SCAN thread USING INDEX thread_long_and_hidden",
        ),
        (
            post_insert::PROFILES_OF_REPLIES,
            "SEARCH post USING COVERING INDEX post_by_writer (thread_id=?",
        ),
    ] {
        let plan = plan(query);
        assert!(
            plan.contains(index) && !plan.contains("TEMP B-TREE"),
            "{plan}"
        );
    }
}

/// A member with 25,000 posts within an hour, below the limit and at it, costs as many steps as a member without posts.
#[test]
fn the_hourly_limit_does_not_count_posts_one_by_one() {
    let board = schema::in_memory();
    let fill = "
        INSERT INTO member (id, username, groups, joined_at) VALUES (1, 'new', '', 0), (2, 'bot', '', 0);
        INSERT INTO forum (id, position, title, description) VALUES (1, 1, '', '');
        INSERT INTO thread (id, forum_id, title, title_words, state, created_at, last_activity_at)
        VALUES (1, 1, '', '', 'visible', 0, 0);
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 25000)
        INSERT INTO post (thread_id, number, author_id, state, created_at, ordered_at, body, body_html, body_words)
        SELECT 1, n, 2, 'visible', n, n, '', '', '' FROM number;
        UPDATE member SET recent_posts = 25000, recent_posts_after = 0, recent_posts_counted_at = 1000 WHERE id = 2";
    board.execute_batch(fill).unwrap();
    let mut times = board.prepare(post_insert::TIMES).unwrap();
    let mut steps = |member: i64, limit: i64| {
        times.reset_status(StatementStatus::VmStep);
        let parameters = named_params! {
            ":member": member, ":since": 1, ":now": 3_600_001, ":key": "post.per_hour", ":default": limit,
        };
        let oldest = times.query_row(parameters, |row| row.get::<_, Option<i64>>(1));
        (times.get_status(StatementStatus::VmStep), oldest.unwrap())
    };
    let (of_new, none) = steps(1, 25_000);
    assert_eq!(none, None);
    for (limit, expected) in [(30_000, None), (25_000, Some(1)), (24_990, Some(11))] {
        let (of_bot, oldest) = steps(2, limit);
        assert_eq!(oldest, expected);
        assert!(
            of_bot <= 2 * of_new,
            "{of_bot} steps of {limit}, {of_new} without posts"
        );
    }
}

fn to_strings((before, after): (&str, &str)) -> (String, String) {
    (before.into(), after.into())
}

fn assert_index_scan(plan: &str, index: &str) {
    assert!(plan.contains(&format!("SEARCH {index}")), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    let tables = "thread post member forum poll option ballot vote subscription copy message";
    for table in tables.split(' ') {
        assert!(!plan.contains(&format!("SCAN {table}")), "{plan}");
    }
}

fn plan(query: &str) -> String {
    let connection = schema::in_memory();
    sqlite::apply_migrations(&connection, &sqlite_schema::MIGRATIONS).unwrap();
    let explain = format!("EXPLAIN QUERY PLAN {query}");
    let mut explain = connection.prepare(&explain).unwrap();
    let steps = explain.raw_query().mapped(|row| row.get::<_, String>(3));
    steps.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}
