//! Query plans: lists scan an index from the page key on, so that the cost of a page does not depend on its position.

use forum_api::store::{sqlite, sqlite_schema};

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
            post_insert::TIMES,
            "SEARCH post USING COVERING INDEX post_by_author (author_id=? AND created_at>? AND created_at<?)",
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
