//! Each statement finds what it is about by an index: its cost does not depend on how much is kept.

use super::{claim, deliveries, endpoints, list, outbox, queue, settle, sweep, usage};
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::Filter;
use crate::store::sqlite::{Location, connection, schema};
use crate::webhook::{State, Topic};

const BY_ID: &str =
    "forum_api_deliveries USING INDEX sqlite_autoindex_forum_api_deliveries_1 (id=?)";

const EVENT: &str = "forum_api_events USING INDEX sqlite_autoindex_forum_api_events_1 (id=?)";

const ENDPOINT: &str =
    "forum_api_endpoints USING INDEX sqlite_autoindex_forum_api_endpoints_1 (id=?)";

/// Each statement, and what it searches.
#[rustfmt::skip]
const STATEMENTS: &[(&str, &str)] = &[
    (outbox::FANNED_OUT, EVENT),
    (outbox::FORGET, EVENT),
    (outbox::FORGET, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_event (event=?)"),
    (queue::QUEUE, "event USING INDEX sqlite_autoindex_forum_api_events_1 (id=?)"),
    (queue::QUEUE, "endpoint USING INDEX sqlite_autoindex_forum_api_endpoints_1 (id=?)"),
    (queue::IS_ENABLED, ENDPOINT),
    (endpoints::FIND, ENDPOINT),
    (endpoints::UPDATE, ENDPOINT),
    (endpoints::ADD, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint"),
    (claim::PENDING, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_pending (endpoint=? AND due_at>?)"),
    (claim::TO_TAKE, "delivery USING INTEGER PRIMARY KEY (rowid=?)"),
    (claim::TO_TAKE, "event USING INDEX sqlite_autoindex_forum_api_events_1 (id=?)"),
    (claim::LEASE, "forum_api_deliveries USING INTEGER PRIMARY KEY (rowid=?)"),
    (settle::BEGIN_SENDING, BY_ID),
    (settle::SETTLE, BY_ID),
    (settle::RELEASE, BY_ID),
    (settle::RETRY, BY_ID),
    (settle::RETRY_DEAD, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint (endpoint=? AND state=?)"),
    (settle::LOG, "forum_api_attempts USING PRIMARY KEY (delivery=?)"),
    (settle::FORGET, "forum_api_attempts USING PRIMARY KEY (delivery=? AND number<?)"),
    (deliveries::BACKLOG, "delivery USING COVERING INDEX forum_api_deliveries_pending (endpoint=? AND due_at<?)"),
    (deliveries::FIND, BY_ID),
    (deliveries::REMOVE, BY_ID),
    (deliveries::ATTEMPTS, "forum_api_attempts USING PRIMARY KEY (delivery=?)"),
    (sweep::ENDED, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_ended (ended_at<?)"),
    (sweep::LEFT_BEHIND, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint"),
    (sweep::LEFT_BEHIND, "delivery USING COVERING INDEX forum_api_deliveries_by_endpoint"),
];

#[test]
fn each_statement_searches_an_index() {
    for (statement, search) in STATEMENTS {
        assert_search(&plan(statement), search);
    }
}

#[test]
fn what_waits_is_walked_from_the_oldest_on() {
    let walk = "SCAN forum_api_events USING INDEX forum_api_events_waiting";
    assert_eq!(plan(outbox::WAITING), walk);
}

#[test]
fn events_in_quarantine_are_found_by_their_index() {
    let index = "forum_api_events USING INDEX forum_api_events_quarantined";
    assert_eq!(plan(outbox::QUARANTINED), format!("SCAN {index}"));
    let count = plan(outbox::COUNT_QUARANTINED);
    assert!(
        count.contains("INDEX forum_api_events_quarantined"),
        "{count}"
    );
}

#[test]
fn usage_is_counted_within_its_period_from_indexes_only() {
    for (statement, search) in [
        (
            usage::DELIVERIES,
            "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_state (state=? AND created_at>?)",
        ),
        (
            usage::ATTEMPTS,
            "forum_api_attempts USING COVERING INDEX forum_api_attempts_by_time (at>?)",
        ),
    ] {
        let plan = plan(statement);
        assert!(plan.contains(&format!("SEARCH {search}")), "{plan}");
    }
}

/// Every combination of filters, from its first page and from a later one: each walk is over an index that holds the
/// selected rows only, in the order of the list.
#[test]
fn a_list_walks_the_rows_that_its_filter_selects() {
    let (to, topic) = (EndpointId::new("whe_1"), Some(Topic::PING));
    for (endpoint, topic, walk) in [
        (None, None, "by_state (state=?"),
        (to.clone(), None, "by_endpoint (endpoint=? AND state=?"),
        (None, topic.clone(), "by_topic (topic=? AND state=?"),
        (
            to,
            topic,
            "by_endpoint_topic (endpoint=? AND topic=? AND state=?",
        ),
    ] {
        for (state, walks) in [(None, State::ALL.len()), (Some(State::Dead), 1)] {
            for (after, place) in [
                (None, ")"),
                (DeliveryId::new("dlv_1"), " AND (created_at,id)<(?,?))"),
            ] {
                let filter = Filter {
                    state,
                    endpoint: endpoint.clone(),
                    topic: topic.clone(),
                    after: after.map(|id| (Timestamp::default(), id)),
                    limit: 20,
                };
                let plan = plan(&list::statement(&filter));
                let search = format!(
                    "SEARCH forum_api_deliveries USING INDEX forum_api_deliveries_{walk}{place}"
                );
                assert_eq!(plan.matches(&search).count(), walks, "{plan}");
                // Only pages are sorted, never what a page is taken from.
                let lines: Vec<_> = plan.lines().collect();
                let sorts_walk = |pair: &[&str]| {
                    pair[1].contains("TEMP B-TREE") && !pair[0].starts_with("SCAN (subquery")
                };
                assert!(!lines.windows(2).any(sorts_walk), "{plan}");
                assert!(!plan.contains("SCAN forum_api"), "{plan}");
            }
        }
    }
}

/// The index is searched, nothing is sorted, and no table is read from end to end.
fn assert_search(plan: &str, search: &str) {
    assert!(plan.contains(&format!("SEARCH {search}")), "{plan}");
    for costly in [
        "TEMP B-TREE",
        "SCAN forum_api",
        "SCAN delivery",
        "SCAN event",
    ] {
        assert!(!plan.contains(costly), "{plan}");
    }
}

fn plan(statement: &str) -> String {
    let connection = connection::writer(&Location::Memory).unwrap();
    for step in schema::STEPS {
        connection.execute_batch(step).unwrap();
    }
    let mut explain = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {statement}"))
        .unwrap();
    let steps = explain.raw_query().mapped(|row| row.get::<_, String>(3));
    steps.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}
