//! Query plans: each statement finds its rows by an index, so its cost does not depend on the size of the tables.

use super::deliveries as queue;
use super::migrations::apply_migrations;
use super::{SqliteExecutor, claim, outbox as fan_out};
use crate::model::{DeliveryId, EndpointId, Timestamp, UserId};
use crate::store::sql::{deliveries, endpoints, outbox, usage};
use crate::store::sqlite_schema::{MIGRATIONS, idempotency, tokens};
use crate::store::{DeliveryFilter, ResponseFilter, TokenFilter, TokenSearch, TokenStateFilter};
use crate::token::TokenState;
use crate::webhook::{DeliveryState, Topic};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

const BY_ID: &str =
    "forum_api_deliveries USING INDEX sqlite_autoindex_forum_api_deliveries_1 (id=?)";

const EVENT: &str = "forum_api_events USING INDEX sqlite_autoindex_forum_api_events_1 (id=?)";

const ENDPOINT: &str =
    "forum_api_endpoints USING INDEX sqlite_autoindex_forum_api_endpoints_1 (id=?)";

/// Each statement, and the index that it searches.
#[rustfmt::skip]
const STATEMENTS: &[(&str, &str)] = &[
    (tokens::FIND, "forum_api_tokens USING PRIMARY KEY (lookup=?)"),
    (tokens::SET_LABEL, "forum_api_tokens USING PRIMARY KEY (lookup=?)"),
    (idempotency::FIND, "forum_api_idempotency_keys USING INDEX sqlite_autoindex_forum_api_idempotency_keys_1 (namespace=? AND key=?)"),
    (idempotency::DELETE_EXPIRED, "forum_api_idempotency_keys USING COVERING INDEX forum_api_idempotency_keys_by_age (began_at<?)"),
    (usage::BY_HOUR, "forum_api_usage USING PRIMARY KEY (hour>?)"),
    (usage::OF_TOKEN, "forum_api_usage USING INDEX forum_api_usage_by_token (token=? AND hour>?)"),
    (usage::SWEEP, "forum_api_usage USING PRIMARY KEY (hour<?)"),
    (fan_out::MARK_FANNED_OUT, EVENT),
    (outbox::FIND, EVENT),
    (fan_out::DELETE, EVENT),
    (fan_out::DELETE, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_event (event=?)"),
    (fan_out::QUEUE, "event USING INDEX sqlite_autoindex_forum_api_events_1 (id=?)"),
    (fan_out::QUEUE, "endpoint USING INDEX sqlite_autoindex_forum_api_endpoints_1 (id=?)"),
    (queue::IS_ENABLED, ENDPOINT),
    (endpoints::FIND, ENDPOINT),
    (endpoints::UPDATE, ENDPOINT),
    (endpoints::ADD, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint"),
    (claim::PENDING, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_pending (endpoint=? AND due_at>?)"),
    (claim::CLAIMABLE, "delivery USING INTEGER PRIMARY KEY (rowid=?)"),
    (claim::CLAIMABLE, "event USING INDEX sqlite_autoindex_forum_api_events_1 (id=?)"),
    (claim::LEASE, "forum_api_deliveries USING INTEGER PRIMARY KEY (rowid=?)"),
    (queue::BEGIN_SENDING, BY_ID),
    (queue::SETTLE, BY_ID),
    (queue::RELEASE, BY_ID),
    (queue::RETRY, BY_ID),
    (queue::RETRY_DEAD, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint (endpoint=? AND state=?)"),
    (queue::ADD_ATTEMPT, "forum_api_attempts USING PRIMARY KEY (delivery=?)"),
    (queue::DELETE_ATTEMPTS, "forum_api_attempts USING PRIMARY KEY (delivery=? AND number<?)"),
    (queue::QUEUE_STATS, "delivery USING COVERING INDEX forum_api_deliveries_pending (endpoint=? AND due_at<?)"),
    (queue::FIND, BY_ID),
    (queue::REMOVE, BY_ID),
    (deliveries::FIND, BY_ID),
    (deliveries::FIND, "forum_api_attempts USING PRIMARY KEY (delivery=?)"),
    (queue::DELETE_ENDED, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_ended (ended_at<?)"),
    (queue::PURGE, "forum_api_deliveries USING INDEX forum_api_deliveries_by_state (state=? AND created_at<?)"),
    (queue::RECORD_FAILURE, ENDPOINT),
    (queue::RECORD_FAILURE, BY_ID),
    (queue::RECORD_SUCCESS, ENDPOINT),
    (queue::RECORD_SUCCESS, BY_ID),
    (endpoints::DISABLE_IF_FAILING, ENDPOINT),
    (queue::QUEUE_STATS, "delivery USING COVERING INDEX forum_api_deliveries_by_state (state=?)"),
    (queue::DELETE_ORPHANS, "forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_endpoint"),
    (queue::DELETE_ORPHANS, "delivery USING COVERING INDEX forum_api_deliveries_by_endpoint"),
];

#[test]
fn each_statement_searches_an_index() {
    for (statement, search) in STATEMENTS {
        assert_search(&plan(statement), search);
    }
}

#[test]
fn pending_events_are_scanned_from_the_oldest_on() {
    let scan = "SCAN forum_api_events USING INDEX forum_api_events_waiting";
    assert_eq!(plan(outbox::PENDING), scan);
}

#[test]
fn quarantined_events_are_found_by_their_index() {
    let index = "forum_api_events USING INDEX forum_api_events_quarantined";
    assert_eq!(plan(outbox::QUARANTINED), format!("SCAN {index}"));
    let count = plan(outbox::COUNT_QUARANTINED);
    assert!(
        count.contains("INDEX forum_api_events_quarantined"),
        "{count}"
    );
}

#[test]
fn delivery_stats_are_read_from_an_index_of_the_period() {
    let plan = plan(queue::DELIVERY_COUNTS);
    let search = "SEARCH forum_api_deliveries USING COVERING INDEX forum_api_deliveries_by_state (state=? AND created_at>?)";
    assert!(plan.contains(search), "{plan}");
}

#[test]
fn dead_deliveries_are_counted_in_an_index() {
    let to = EndpointId::parse("whe_1").ok();
    for (endpoint, index) in [
        (None, "by_state (state=?)"),
        (to.as_ref(), "by_endpoint (endpoint=? AND state=?)"),
    ] {
        let plan = plan(&deliveries::count_dead_statement(endpoint).sql);
        let search = format!(
            "SEARCH forum_api_deliveries USING COVERING INDEX forum_api_deliveries_{index}"
        );
        assert!(plan.contains(&search), "{plan}");
    }
}

#[test]
fn results_of_endpoints_are_read_from_indexes() {
    let plan = plan(queue::ENDPOINT_STATS);
    let index = "delivery USING COVERING INDEX forum_api_deliveries_by_endpoint";
    for search in [
        format!("SEARCH {index} (endpoint=? AND state=? AND created_at>?)"),
        format!("SEARCH {index} (endpoint=? AND state=?)"),
        "SEARCH attempt USING PRIMARY KEY (delivery=? AND number=?)".into(),
    ] {
        assert!(plan.contains(&search), "{plan}");
    }
    assert!(!plan.contains("SCAN delivery"), "{plan}");
}

#[test]
fn a_period_restricts_the_scan_of_a_list() {
    let filter = DeliveryFilter {
        since: Some(Timestamp::default()),
        before: Some(Timestamp::default()),
        response: Some(ResponseFilter::ServerError),
        limit: 20,
        ..DeliveryFilter::default()
    };
    let plan = plan(&deliveries::list_statement::<SqliteExecutor>(&filter, &filter.states()).sql);
    let search = "forum_api_deliveries USING INDEX forum_api_deliveries_by_state (state=? AND created_at>? AND";
    assert_eq!(plan.matches(search).count(), 3, "{plan}");
    assert!(
        plan.contains("SEARCH forum_api_attempts USING PRIMARY KEY (delivery=?)"),
        "{plan}"
    );
    assert!(!plan.contains("SCAN forum_api"), "{plan}");
}

/// Checks each combination of filters on the first page and on a later one: each scan is over an index that contains only
/// the selected rows, in the order of the list.
#[test]
fn a_list_scans_the_rows_that_its_filter_selects() {
    let to = EndpointId::parse("whe_1").ok();
    let topic = Some(Topic::PING);
    for (endpoint, topic, index) in [
        (None, None, "by_state (state=?"),
        (to.clone(), None, "by_endpoint (endpoint=? AND state=?"),
        (None, topic.clone(), "by_topic (topic=? AND state=?"),
        (
            to,
            topic,
            "by_endpoint_topic (endpoint=? AND topic=? AND state=?",
        ),
    ] {
        for (state, scans) in [
            (None, DeliveryState::ALL.len()),
            (Some(DeliveryState::Dead), 1),
        ] {
            for (after, condition) in [
                (None, ")"),
                (
                    DeliveryId::parse("dlv_1").ok(),
                    " AND (created_at,id)<(?,?))",
                ),
            ] {
                let filter = DeliveryFilter {
                    state,
                    endpoint_id: endpoint.clone(),
                    topic: topic.clone(),
                    after: after.map(|id| (Timestamp::default(), id)),
                    limit: 20,
                    ..DeliveryFilter::default()
                };
                let plan = plan(
                    &deliveries::list_statement::<SqliteExecutor>(&filter, &filter.states()).sql,
                );
                let search = format!(
                    "SEARCH forum_api_deliveries USING INDEX forum_api_deliveries_{index}{condition}"
                );
                assert_eq!(plan.matches(&search).count(), scans, "{plan}");
                // Only pages are sorted, not the rows from which a page is taken.
                let lines: Vec<_> = plan.lines().collect();
                let sorts_scan = |pair: &[&str]| {
                    pair[1].contains("TEMP B-TREE") && !pair[0].starts_with("SCAN page")
                };
                assert!(!lines.windows(2).any(sorts_scan), "{plan}");
                assert!(!plan.contains("SCAN forum_api"), "{plan}");
            }
        }
    }
}

/// Checks each combination of filters: the list is read in its order from an index of the owner, or of revoked or other
/// tokens. Only the conditions on expiry times and on the search text can read rows that are not in the list.
#[test]
fn a_list_of_tokens_reads_an_index_in_its_order() {
    let age = "(created_at,lookup)<(?,?)";
    let search = TokenSearch {
        text: "x".into(),
        owner: None,
    };
    for (states, index) in [
        (TokenStateFilter::Any, "by_age"),
        (TokenStateFilter::NotRevoked, "not_revoked"),
        (TokenStateFilter::ExpiringSoon, "not_revoked"),
        (TokenStateFilter::Only(TokenState::Valid), "not_revoked"),
        (TokenStateFilter::Only(TokenState::Expired), "not_revoked"),
        (TokenStateFilter::Only(TokenState::Revoked), "revoked"),
    ] {
        for search in [None, Some(search.clone())] {
            let mut filter = TokenFilter {
                states,
                search,
                ..TokenFilter::default()
            };
            let of_all = format!("forum_api_tokens USING INDEX forum_api_tokens_{index} ({age})");
            assert_search(&plan(&tokens::list(&filter)), &of_all);
            filter.owner = Some(UserId::from(1));
            let of_owner = format!(
                "forum_api_tokens USING INDEX forum_api_tokens_by_owner (owner=? AND {age})"
            );
            assert_search(&plan(&tokens::list(&filter)), &of_owner);
        }
    }
}

/// Asserts that the index is searched, nothing is sorted, and no table is scanned.
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
    let connection = Connection::open_in_memory().unwrap();
    apply_migrations(&connection, &MIGRATIONS).unwrap();
    // The connections of the pool enable the same option, so their plans are the same.
    let stable = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(stable, true).unwrap();
    let mut explain = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {statement}"))
        .unwrap();
    let steps = explain.raw_query().mapped(|row| row.get::<_, String>(3));
    steps.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}
