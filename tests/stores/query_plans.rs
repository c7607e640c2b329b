//! Query plans on SQLite of the statements that the rules of stores run: their cost does not grow with the tables.

use std::sync::Mutex;
use std::time::Duration;

use forum_api::async_trait;
use forum_api::conformance::FixtureResult;
use forum_api::conformance::stores::{StoreFactory, run_all};
use forum_api::store::sqlite::{Database, DatabasePath};
use forum_api::store::{Stores, WebhookStores};
use forum_test_support::statements::{assert_plans, take_all_statements, take_statements};
use forum_test_support::thread_log;

use crate::fixture::at;

/// Beginnings of scans of tables with few rows, of subqueries with few rows, and of indexes in the order of a list.
const ALLOWED_SCANS: [&str; 20] = [
    "forum_api_endpoints",
    "endpoint",
    "forum_api_webhook_key",
    "page",
    "listed",
    "few",
    "hop",
    "dead",
    "last",
    "since",
    "stats",
    "ordered",
    "(subquery-",
    "CONSTANT ROW",
    "forum_api_audit_log USING INDEX forum_api_audit_log_by_time",
    "forum_api_events USING INDEX forum_api_events_waiting",
    "forum_api_events USING INDEX forum_api_events_quarantined",
    "forum_api_events USING INDEX forum_api_events_feed",
    "json_each",
    "oldest",
];

/// Searches with all columns of an index. Without these columns, a search would read rows that its result does not contain.
const SEARCHES: [&str; 37] = [
    "events_feed (position=? AND number>?)",
    "events_feed (position>?)",
    "events_by_time (occurred_at<?)",
    "tokens_by_age ((created_at,lookup)<(?,?)",
    "tokens_not_revoked ((created_at,lookup)<(?,?)",
    "tokens_revoked ((created_at,lookup)<(?,?)",
    "tokens_by_owner (owner=? AND (created_at,lookup)<(?,?)",
    "tokens_by_expiry (expires_at<?)",
    "tokens_by_revocation (revoked_at<?)",
    "idempotency_keys_1 (namespace=? AND key=?)",
    "idempotency_keys_by_age (began_at<?)",
    "usage USING PRIMARY KEY (hour<?)",
    "usage USING PRIMARY KEY (hour=? AND token=?)",
    "usage_by_requests (hour=?)",
    "usage_by_token (token=? AND hour>?)",
    "audit_log_by_actor (actor=? AND (occurred_at,id)<(?,?)",
    "audit_log_by_action (action=? AND (occurred_at,id)<(?,?)",
    "audit_log_by_target (target=? AND (occurred_at,id)<(?,?)",
    "deliveries_pending (endpoint=? AND due_at>?)",
    "deliveries_due_set (due_set_at>?)",
    "deliveries_pending (endpoint=? AND due_at<?)",
    "deliveries_ended (ended_at<?)",
    "deliveries_by_state (state=?)",
    "deliveries_by_state (state=? AND created_at<?)",
    "deliveries_by_state (state=? AND created_at>?)",
    "deliveries_by_state (state=? AND (created_at,id)<(?,?)",
    "deliveries_by_endpoint (endpoint=? AND state=?)",
    "deliveries_by_endpoint (endpoint=? AND state=? AND created_at>?)",
    "deliveries_by_endpoint (endpoint=? AND state=? AND (created_at,id)<(?,?)",
    "deliveries_by_endpoint (endpoint=? AND state=? AND created_at>? AND (created_at,id)<(?,?)",
    "deliveries_by_topic (topic=? AND state=?)",
    "deliveries_by_topic (topic=? AND state=? AND (created_at,id)<(?,?)",
    "deliveries_by_endpoint_topic (endpoint=? AND topic=? AND state=?)",
    "deliveries_by_endpoint_topic (endpoint=? AND topic=? AND state=? AND (created_at,id)<(?,?)",
    "attempts USING PRIMARY KEY (delivery=?)",
    "attempts USING PRIMARY KEY (delivery=? AND number=?)",
    "attempts USING PRIMARY KEY (delivery=? AND number<?)",
];

#[tokio::test]
async fn statements_search_indexes() {
    let _statements = thread_log::record_statements();
    let factory = RecordedFactory::default();
    let report = run_all(&factory).await;
    assert_eq!(report.failed().count(), 0);
    let statements = take_all_statements(factory.0.into_inner().unwrap()).await;
    let database = Database::open(&DatabasePath::Memory).unwrap();
    assert_plans(&database, statements, is_allowed, &SEARCHES).await;
}

/// Only the latest delivery of an endpoint is looked up by its id. The index of endpoints contains the states of the others.
#[tokio::test]
async fn statistics_of_endpoints_are_counted_in_an_index() {
    let _statements = thread_log::record_statements();
    let database = Database::open(&DatabasePath::Memory).unwrap();
    let webhooks = WebhookStores::in_sqlite(&database);
    take_statements(&database).await;
    webhooks.endpoint_stats(Duration::ZERO, at(0)).await.unwrap();
    let statements = take_statements(&database).await;
    let searches = ["deliveries_by_endpoint (endpoint=? AND state=? AND created_at>?)"];
    assert_plans(&database, statements, looks_up_one_delivery, &searches).await;
}

fn looks_up_one_delivery(_: &str, steps: &[String]) -> bool {
    let is_lookup = |step: &&String| step.contains("sqlite_autoindex_forum_api_deliveries_1");
    steps.iter().filter(is_lookup).count() <= 1
}

/// Only the rows of pages are sorted, and groups of counts.
fn is_allowed(statement: &str, steps: &[String]) -> bool {
    let Some((step, before)) = steps.split_last() else {
        return true;
    };
    if statement.contains("GROUP BY") {
        return true;
    }
    if step.contains("TEMP B-TREE") {
        // An index has the first terms of the order; rows with the same values are few.
        let is_last_term = step.contains("FOR LAST TERM");
        let sorts_few =
            |scan: &String| scan.starts_with("SCAN page") || scan.contains("(subquery-");
        return is_last_term || before.last().is_some_and(sorts_few);
    }
    step.strip_prefix("SCAN ").is_none_or(|scan| {
        let is_few = |few: &&str| scan.starts_with(*few);
        ALLOWED_SCANS.iter().any(is_few)
    })
}

/// Creates stores in memory, and keeps their databases.
#[derive(Default)]
struct RecordedFactory(Mutex<Vec<Database>>);

#[async_trait]
impl StoreFactory for RecordedFactory {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        let database = Database::open(&DatabasePath::Memory)?;
        take_statements(&database).await;
        self.0.lock().unwrap().push(database.clone());
        let webhooks = WebhookStores::in_sqlite(&database);
        // No rule lists events in quarantine.
        webhooks.quarantined_events(1).await?;
        Ok((Stores::in_sqlite(&database), webhooks))
    }
}
