//! Each statement finds what it is about by an index: its cost does not depend on how much is kept.

use super::{claim, deliveries, endpoints, list, outbox, queue, settle, sweep};
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
    (endpoints::ADD, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint (endpoint=?)"),
    (claim::PENDING, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_pending (endpoint=? AND due_at>?)"),
    (claim::TO_TAKE, "delivery USING INTEGER PRIMARY KEY (rowid=?)"),
    (claim::TO_TAKE, "event USING INDEX sqlite_autoindex_forum_api_events_1 (id=?)"),
    (claim::LEASE, BY_ID),
    (settle::SETTLE, BY_ID),
    (settle::RELEASE, BY_ID),
    (settle::RETRY, BY_ID),
    (settle::LOG, "forum_api_attempts USING PRIMARY KEY (delivery=?)"),
    (settle::FORGET, "forum_api_attempts USING PRIMARY KEY (delivery=? AND number<?)"),
    (deliveries::BACKLOG, "delivery USING COVERING INDEX forum_api_deliveries_pending (endpoint=? AND due_at<?)"),
    (deliveries::FIND, BY_ID),
    (deliveries::REMOVE, BY_ID),
    (deliveries::ATTEMPTS, "forum_api_attempts USING PRIMARY KEY (delivery=?)"),
    (sweep::ENDED, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_ended (ended_at<?)"),
    (sweep::LEFT_BEHIND, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint (endpoint>?)"),
    (sweep::LEFT_BEHIND, "delivery USING COVERING INDEX forum_api_deliveries_by_endpoint (endpoint=?)"),
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
fn a_list_walks_the_index_of_what_it_is_filtered_by() {
    let (dead, to) = (Some(State::Dead), EndpointId::new("whe_1"));
    for (state, endpoint, topic, search) in [
        (None, None, None, "by_time ("),
        (None, None, Some(Topic::PING), "by_time ("),
        (dead, None, None, "by_state (state=? AND "),
        (dead, None, Some(Topic::PING), "by_state (state=? AND "),
        (None, to.clone(), None, "by_endpoint (endpoint=? AND "),
        (dead, to, None, "by_state (state=? AND "),
    ] {
        let filter = Filter {
            state,
            endpoint,
            topic,
            after: DeliveryId::new("dlv_1").map(|id| (Timestamp::default(), id)),
            limit: 20,
        };
        let index = format!("forum_api_deliveries USING INDEX forum_api_deliveries_{search}");
        let search = format!("{index}(created_at,id)<(?,?))");
        assert_search(&plan(&list::statement(&filter)), &search);
    }
}

#[test]
fn the_first_page_of_all_is_walked_from_the_newest_on() {
    let plan = plan(&list::statement(&Filter::default()));
    let walk = "SCAN forum_api_deliveries USING INDEX forum_api_deliveries_by_time";
    assert!(plan.starts_with(walk), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
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
