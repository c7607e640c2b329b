//! Usage store.

use async_trait::async_trait;

use super::rows::read_usage_counts;
use super::{Columns, SqlExecutor, SqlStore, Statement};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

/// A table with the sums of each hour.
#[derive(Clone, Copy)]
pub(crate) struct UsageTable {
    pub(crate) name: &'static str,
    /// Column of the primary key, after the hour.
    pub(crate) key: &'static str,
}

impl UsageTable {
    pub(crate) const TOKENS: Self = Self { name: "forum_api_usage", key: "token" };

    pub(crate) const OPERATIONS: Self =
        Self { name: "forum_api_operation_usage", key: "operation" };

    /// Returns the clause of an `INSERT` into `stored` that adds the numbers of a row that exists.
    pub(crate) fn add_to_stored(self) -> String {
        format!(
            "ON CONFLICT (hour, {}) DO UPDATE SET
                requests = stored.requests + excluded.requests,
                units = stored.units + excluded.units,
                rate_limited = stored.rate_limited + excluded.rate_limited,
                unauthenticated = stored.unauthenticated + excluded.unauthenticated,
                forbidden = stored.forbidden + excluded.forbidden,
                rejected = stored.rejected + excluded.rejected,
                errors = stored.errors + excluded.errors",
            self.key
        )
    }
}

/// Columns with the sums of a group of rows.
pub(crate) const SUMS: &str = "
    CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(units) AS BIGINT) AS units,
    CAST(sum(rate_limited) AS BIGINT) AS rate_limited, CAST(sum(unauthenticated) AS BIGINT) AS unauthenticated,
    CAST(sum(forbidden) AS BIGINT) AS forbidden, CAST(sum(rejected) AS BIGINT) AS rejected,
    CAST(sum(errors) AS BIGINT) AS errors";

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

    async fn sweep(&self, before: Timestamp, after: Timestamp, limit: u32) -> BackendResult<u64> {
        let mut removed = 0;
        for table in [UsageTable::TOKENS, UsageTable::OPERATIONS] {
            for (hours, end) in
                [("hour < ?1 ORDER BY hour", before), ("hour > ?1 ORDER BY hour DESC", after)]
            {
                let rest = i64::from(limit).saturating_sub_unsigned(removed);
                if rest > 0 {
                    let sweep =
                        Statement::new(E::sweep_usage(table, hours), [end.into(), rest.into()]);
                    removed += self.0.change(sweep).await?;
                }
            }
        }
        Ok(removed)
    }
}
