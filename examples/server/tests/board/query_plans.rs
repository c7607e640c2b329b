//! Query plans on SQLite of the statements that the conformance suite runs: the cost of a request does not grow with
//! the content of the board.

use std::sync::Mutex;

use forum_api::conformance::run_all;
use forum_api::store::sqlite::Database;
use forum_test_support::statements::{assert_plans, take_all_statements, take_statements};
use forum_test_support::thread_log;

use crate::board::accounts::sessions;

use crate::prelude::*;

/// Tables with few rows, partial indexes, and subqueries and parameters with few rows.
#[rustfmt::skip]
const ALLOWED_SCANS: [&str; 29] = [
    "access_version", "forum", "forum_count", "forum_count USING INDEX forum_count_by_forum", "thread_recount", "thread_publication", "forum_api_endpoints", "setting", "sqlite_sequence",
    "forum_api_events USING INDEX forum_api_events_waiting",
    "forum_api_events USING INDEX forum_api_events_quarantined",
    "poll_option USING INDEX poll_option_removed",
    "CONSTANT ROW", "page", "part", "place", "alone", "below", "copies", "few", "listed", "next", "start", "times", "written",
    "summed", "(subquery-4)", "(subquery-9)", "(subquery-10)",
];

/// Scans of virtual tables: of a JSON parameter, and of the matches of a search.
const ALLOWED_VIRTUAL_SCANS: [&str; 2] = [" VIRTUAL TABLE INDEX 1:", ":M3><"];

/// Parts of the statements that sort few rows: the rows of a page, or the values of a parameter.
const ALLOWED_SORTS: [&str; 6] = [
    "FROM listed AS subscription",
    "FROM json_each(?1) AS found",
    "FROM json_each(:named) AS named",
    "FROM json_each(:recipients)",
    "FROM json_each(:votes) GROUP BY",
    "GROUP BY ballot.id",
];

/// Parts of the statements whose plans include the tables of foreign keys, and of statements that no request runs.
const SKIPPED: [&str; 6] = [
    "VALUES (",
    "DELETE FROM member",
    "SET post_count = (",
    "SET counted = CASE\n",
    "LIKE '%administrators%'",
    "UPDATE forum_api_audit_log",
];

/// Searches with all columns of an index. Without these columns, a search would read all rows of a thread or a member.
const SEARCHES: [&str; 12] = [
    "thread_by_activity (forum_id=? AND state=? AND last_activity_at>?",
    "post_by_order (thread_id=? AND state=?",
    "post_update_waits (thread_id=?",
    "post_by_author (author_id=? AND written_at>? AND written_at<?)",
    "member_edit_by_time (member_id=? AND edited_at>? AND edited_at<?)",
    "poll_option_by_position (poll_id=?",
    "subscription_by_target (member_id=? AND target=? AND created_at<?",
    "message_copy_by_time (owner_id=? AND folder=? AND sent_at<?",
    "message_copy_by_reading (owner_id=? AND folder=? AND <expr>=? AND sent_at<?",
    "message_copy_by_message (message_id=?",
    "rating_by_subject (rater_id=? AND member_id=? AND post_id=? AND created_at>?",
    "session_by_use (used_at<?",
];

#[tokio::test(flavor = "multi_thread")]
async fn statements_search_indexes() {
    let _statements = thread_log::record_statements();
    let factory = RecordedFactory::default();
    let report = run_all(&factory).await;
    assert_eq!(report.failed().count(), 0);
    let mut statements = take_all_statements(factory.0.into_inner().unwrap()).await;
    statements.retain(|statement| !SKIPPED.iter().any(|part| statement.contains(part)));
    statements.insert(sessions::SWEEP.into());

    let database = in_sqlite(&Backend::Memory.create_storage().await);
    assert_plans(&database, statements, is_allowed, &SEARCHES).await;
}

fn is_allowed(statement: &str, steps: &[String]) -> bool {
    let step = steps.last().map_or("", String::as_str);
    if step.contains("TEMP B-TREE") {
        return ALLOWED_SORTS.iter().any(|part| statement.contains(part));
    }
    step.strip_prefix("SCAN ").is_none_or(|scan| {
        let is_virtual = |part: &&str| scan.contains(*part);
        // A limited subquery has the name of its table.
        let is_limited =
            scan == "subscription" && statement.contains("FROM listed AS subscription");
        is_limited
            || ALLOWED_SCANS.contains(&scan.trim_end_matches(" LEFT-JOIN"))
            || ALLOWED_VIRTUAL_SCANS.iter().any(is_virtual)
    })
}

fn in_sqlite(storage: &Storage) -> Database {
    match &storage.database {
        BoardDatabase::Sqlite(database) => database.clone(),
        BoardDatabase::Postgres(_) => panic!("the database is in Postgres"),
    }
}

/// Creates boards in memory, and keeps their databases.
#[derive(Default)]
struct RecordedFactory(Mutex<Vec<Database>>);

#[async_trait]
impl BoardFactory for RecordedFactory {
    async fn create(&self, clock: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>> {
        let storage = Backend::Memory.create_storage().await;
        let database = in_sqlite(&storage);
        take_statements(&database).await;
        self.0.lock().unwrap().push(database);
        Ok(Box::new(storage.fixture(clock).await))
    }
}
