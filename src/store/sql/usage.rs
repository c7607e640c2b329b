//! Usage store.

use async_trait::async_trait;

use super::rows::read_usage_counts;
use super::{Columns, SqlExecutor, SqlStore, Statement};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

/// Selects the sums of the rows from hour `?1` on in groups, after the expression of their key.
macro_rules! sums {
    ($key:literal, $condition_and_order:literal) => {
        concat!(
            "SELECT ",
            $key,
            ", CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(units) AS BIGINT) AS units,
            CAST(sum(rate_limited) AS BIGINT) AS rate_limited,
            CAST(sum(unauthenticated) AS BIGINT) AS unauthenticated, CAST(sum(forbidden) AS BIGINT) AS forbidden,
            CAST(sum(rejected) AS BIGINT) AS rejected, CAST(sum(errors) AS BIGINT) AS errors
            FROM forum_api_usage WHERE hour >= ?1 ",
            $condition_and_order
        )
    };
}

const BY_HOUR: &str = sums!("hour", "GROUP BY hour ORDER BY hour");

const OF_TOKEN: &str = sums!("hour", "AND token = ?2 GROUP BY hour ORDER BY hour");

const BY_TOKEN: &str =
    sums!("nullif(token, '') AS lookup", "GROUP BY token ORDER BY 2 DESC, token LIMIT ?2");

const BY_OPERATION: &str =
    sums!("nullif(operation, '') AS operation_id", "GROUP BY operation ORDER BY 2 DESC, operation");

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
            None => Statement::new(BY_HOUR, [since.into()]),
        };
        let read = |row: &dyn Columns| Ok((row.value("hour")?, read_usage_counts(row)?));
        self.0.query(usage, read).await
    }

    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>> {
        let usage = Statement::new(BY_TOKEN, [since.into(), limit.into()]);
        let read = |row: &dyn Columns| Ok((row.optional("lookup")?, read_usage_counts(row)?));
        self.0.query(usage, read).await
    }

    async fn usage_by_operation(
        &self,
        since: Timestamp,
    ) -> BackendResult<Vec<(Option<String>, UsageCounts)>> {
        let usage = Statement::new(BY_OPERATION, [since.into()]);
        let read = |row: &dyn Columns| Ok((row.optional("operation_id")?, read_usage_counts(row)?));
        self.0.query(usage, read).await
    }

    async fn sweep(&self, before: Timestamp, after: Timestamp, limit: u32) -> BackendResult<u64> {
        let sweep = Statement::new(E::SWEEP_USAGE, [before.into(), limit.into()]);
        let removed = self.0.change(sweep).await?;
        let rest = i64::from(limit).saturating_sub_unsigned(removed);
        if rest <= 0 {
            return Ok(removed);
        }
        let sweep_ahead = Statement::new(E::SWEEP_USAGE_AHEAD, [after.into(), rest.into()]);
        Ok(removed + self.0.change(sweep_ahead).await?)
    }
}
