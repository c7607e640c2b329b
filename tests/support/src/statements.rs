//! The statements that SQLite databases in memory run, and their query plans.

use std::collections::BTreeSet;

use forum_api::store::sqlite::{Database, SqliteError};

use crate::thread_log;

/// Takes the statements of these databases, as [`take_statements`] does.
pub async fn take_all_statements(databases: Vec<Database>) -> BTreeSet<String> {
    let mut statements = BTreeSet::new();
    for database in databases {
        statements.extend(take_statements(&database).await);
    }
    statements
}

/// Takes the statements that a database has run since [`thread_log::record_statements`] or the last call, without
/// transaction control and without statements that the search index runs on its own tables.
pub async fn take_statements(database: &Database) -> BTreeSet<String> {
    let log = database.read(|_| Ok::<_, SqliteError>(thread_log::take()));
    let mut statements: BTreeSet<String> = log
        .await
        .unwrap()
        .lines()
        .filter_map(|line| line.split_once("executing statement sql="))
        .map(|(_, sql)| serde_json::from_str(sql).unwrap())
        .collect();
    statements.retain(|sql| {
        let word = sql.split_whitespace().next().unwrap_or_default();
        let transaction_control = ["BEGIN", "SAVEPOINT", "RELEASE", "COMMIT"];
        !transaction_control.contains(&word) && !sql.contains("'main'.'")
    });
    statements
}

/// Asserts that each step of the statements' plans that scans a table or sorts rows is allowed, and that the plans contain
/// these searches. `is_allowed` receives the statement, and the steps up to this one.
pub async fn assert_plans(
    database: &Database,
    statements: BTreeSet<String>,
    is_allowed: fn(&str, &[String]) -> bool,
    searches: &[&str],
) {
    let explained = database.read(|connection| {
        let plans = statements.into_iter().map(|statement| {
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}"))?;
            let steps = explain.raw_query().mapped(|row| row.get(3));
            Ok::<_, SqliteError>((statement, steps.collect::<Result<_, _>>()?))
        });
        plans.collect::<Result<Vec<(String, Vec<String>)>, _>>()
    });
    let plans = explained.await.unwrap();
    for (statement, steps) in &plans {
        let costly = (1..=steps.len()).find(|end| !is_allowed(statement, &steps[..*end]));
        assert_eq!(costly, None, "{statement}\n{steps:#?}");
    }
    for search in searches {
        let mut steps = plans.iter().flat_map(|(_, steps)| steps);
        let is_used = steps.any(|step| step.contains(search));
        assert!(is_used, "{search}: {plans:#?}");
    }
}
