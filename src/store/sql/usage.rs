//! Usage store.

use std::time::Duration;

use async_trait::async_trait;

use super::rows::read_usage_counts;
use super::usage_table::{SUMS, UsageTable};
use super::{Columns, SqlExecutor, SqlStore, Statement};
use crate::error::BackendResult;
use crate::model::{HOUR, Timestamp};
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

const OF_TOKEN: &str = "
    SELECT hour, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors
    FROM forum_api_usage WHERE hour >= ?1 AND token = ?2 ORDER BY hour";

/// Returns the query for the sums of all requests by hour. Without tokens, because an hour can have many.
fn by_hour() -> String {
    format!(
        "SELECT hour, {SUMS} FROM forum_api_operation_usage WHERE hour >= ?1 GROUP BY hour ORDER BY hour"
    )
}

fn by_operation() -> String {
    format!(
        "SELECT nullif(operation, '') AS operation_id, {SUMS} FROM forum_api_operation_usage
        WHERE hour >= ?1 GROUP BY operation ORDER BY 2 DESC, operation"
    )
}

/// Returns the query for the sums of the most used tokens. The candidates are the most used tokens of each hour.
fn by_token<E: SqlExecutor>() -> String {
    let busiest = E::BUSIEST_TOKENS;
    let sums = E::sums_of_tokens(SUMS);
    format!(
        "WITH RECURSIVE hop (hour) AS (
            SELECT min(hour) FROM forum_api_usage WHERE hour >= ?1
            UNION ALL
            SELECT (SELECT min(hour) FROM forum_api_usage WHERE hour > hop.hour)
            FROM hop WHERE hop.hour IS NOT NULL
        ), few AS MATERIALIZED (
            SELECT token FROM ({busiest}) AS busiest
            GROUP BY token ORDER BY sum(requests) DESC, token LIMIT ?2
        )
        {sums}"
    )
}

#[async_trait]
impl<E: SqlExecutor> UsageStore for SqlStore<E> {
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        self.0.add_usage(usage).await
    }

    async fn token_usage_by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>> {
        let usage = match token {
            Some(token) => Statement::new(OF_TOKEN, [since.into(), token.into()]),
            None => Statement::new(by_hour(), [since.into()]),
        };
        let read = |row: &dyn Columns| Ok((row.value("hour")?, read_usage_counts(row)?));
        self.0.query(usage, read).await
    }

    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>> {
        let usage = Statement::new(by_token::<E>(), [since.into(), limit.into()]);
        let read = |row: &dyn Columns| Ok((row.optional("lookup")?, read_usage_counts(row)?));
        self.0.query(usage, read).await
    }

    async fn usage_by_operation(
        &self,
        since: Timestamp,
    ) -> BackendResult<Vec<(Option<String>, UsageCounts)>> {
        let usage = Statement::new(by_operation(), [since.into()]);
        let read = |row: &dyn Columns| Ok((row.optional("operation_id")?, read_usage_counts(row)?));
        self.0.query(usage, read).await
    }

    async fn sweep(&self, retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64> {
        let time = E::NOW;
        let old = format!("hour < {time} - ?2 ORDER BY hour");
        let ahead = format!("hour > {time} + ?2 ORDER BY hour DESC");
        let mut removed = 0;
        for table in [UsageTable::TOKENS, UsageTable::OPERATIONS] {
            for (hours, distance) in [(&old, retention), (&ahead, HOUR)] {
                let rest = i64::from(limit).saturating_sub_unsigned(removed);
                if rest > 0 {
                    let values = [self.0.time(now).into(), distance.into(), rest.into()];
                    let sweep = Statement::new(E::sweep_usage(table, hours), values);
                    removed += self.0.change(sweep).await?;
                }
            }
        }
        Ok(removed)
    }
}
