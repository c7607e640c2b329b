//! Lists walk an index from the place where the page begins: their cost does not depend on depth.

use super::{counts, messages, polls, posts, schema, search, sessions, subscriptions, threads};

#[test]
fn a_forums_threads_walk_the_index_by_activity() {
    let plan = plan(&threads::LIST);
    assert_walk(
        &plan,
        "thread USING INDEX thread_by_activity (forum_id=? AND last_activity_at>?",
    );
}

#[test]
fn a_threads_posts_walk_the_index_by_order() {
    let plan = plan(&posts::PAGE);
    // The rows of a page alone are sorted.
    let (walk, page) = plan.split_once("SCAN (subquery").unwrap();
    assert_walk(
        walk,
        "post USING INDEX post_by_order (thread_id=? AND ordered_at>?",
    );
    assert_walk(
        &page.replace("USE TEMP B-TREE FOR ORDER BY", ""),
        "post USING INTEGER PRIMARY KEY (rowid=?)",
    );
}

#[test]
fn a_poll_is_found_with_its_thread_and_its_options_in_order() {
    let plan = plan(&polls::OF_THREAD);
    assert_walk(
        &plan,
        "option USING INDEX poll_option_by_position (poll_id=?",
    );
}

#[test]
fn subscriptions_walk_an_index_by_time() {
    for (query, index) in [
        (&subscriptions::ALL, "subscription_by_time (member_id=?"),
        (
            &subscriptions::OF_TARGET,
            "subscription_by_target (member_id=? AND target=?",
        ),
    ] {
        let search = format!("subscription USING INDEX {index} AND created_at<?");
        assert_walk(&plan(query), &search);
    }
}

#[test]
fn a_folder_walks_its_index_filtered_or_not() {
    for (query, index) in [
        (
            &messages::LIST,
            "message_copy_by_time (owner_id=? AND folder=? AND sent_at<?",
        ),
        (
            &messages::FILTERED,
            "message_copy_by_reading (owner_id=? AND folder=? AND <expr>=? AND sent_at<?",
        ),
    ] {
        let plan = plan(&query[0]);
        assert_walk(&plan, &format!("copy USING INDEX {index}"));
        assert_walk(
            &plan,
            "inbox USING INDEX message_copy_in_inboxes (message_id=?",
        );
    }
}

#[test]
fn a_search_walks_the_index_of_words() {
    for query in search::WALKS.map(|walk| walk()) {
        let plan = plan(query);
        let is_walk = plan.starts_with("SCAN post_text VIRTUAL TABLE INDEX");
        assert!(is_walk && plan.lines().count() == 1, "{plan}");
    }
}

#[test]
fn a_search_looks_behind_by_the_index_of_words() {
    let plan = plan(search::TOLD);
    let walk = plan.contains("SCAN post_text EXISTS VIRTUAL TABLE INDEX");
    assert!(walk && !plan.contains("TEMP B-TREE"), "{plan}");
}

#[test]
fn long_threads_that_are_hidden_have_an_index_of_their_own() {
    let plan = plan(search::LONG_AND_HIDDEN);
    assert_eq!(plan, "SCAN thread USING INDEX thread_long_and_hidden");
}

#[test]
fn the_authors_of_a_thread_are_counted_by_an_index_alone() {
    let plan = plan(counts::PROFILES_OF_REPLIES);
    let search = "SEARCH post USING COVERING INDEX post_by_writer (thread_id=?";
    assert!(plan.contains(search), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[test]
fn old_sessions_are_found_by_their_last_use() {
    let plan = plan(sessions::SWEEP);
    assert_walk(
        &plan,
        "session USING COVERING INDEX session_by_use (used_at<?",
    );
}

/// The index is searched, nothing is sorted, and no table is read from end to end.
fn assert_walk(plan: &str, search: &str) {
    assert!(plan.contains(&format!("SEARCH {search}")), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    for table in [
        "thread",
        "post",
        "member",
        "forum",
        "poll",
        "option",
        "ballot",
        "vote",
        "subscription",
        "copy",
        "message",
    ] {
        assert!(!plan.contains(&format!("SCAN {table}")), "{plan}");
    }
}

fn plan(query: &str) -> String {
    let connection = schema::in_memory();
    let mut explain = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {query}"))
        .unwrap();
    let steps = explain.raw_query().mapped(|row| row.get::<_, String>(3));
    steps.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}
