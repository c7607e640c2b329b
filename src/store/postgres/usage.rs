//! Usage store.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::execute::{Parameters, RowReader};
use super::rows::{read_operation_usage, read_usage_counts};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{OperationCounts, OperationUsage, TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

const ADD: &str = include_str!("sql/add_usage.sql");

const BY_HOUR: &str = "
SELECT hour, sum(requests)::BIGINT, sum(units)::BIGINT, sum(rate_limited)::BIGINT,
    sum(unauthenticated)::BIGINT, sum(forbidden)::BIGINT, sum(errors)::BIGINT
FROM forum_api_usage WHERE hour >= $1 GROUP BY hour ORDER BY hour";

const OF_TOKEN: &str = "
SELECT hour, requests, units, rate_limited, unauthenticated, forbidden, errors
FROM forum_api_usage WHERE hour >= $1 AND token = $2 ORDER BY hour";

const BY_TOKEN: &str = "
SELECT token, sum(requests)::BIGINT, sum(units)::BIGINT, sum(rate_limited)::BIGINT,
    sum(unauthenticated)::BIGINT, sum(forbidden)::BIGINT, sum(errors)::BIGINT
FROM forum_api_usage WHERE hour >= $1 GROUP BY token ORDER BY 2 DESC, token LIMIT $2";

const ADD_OPERATIONS: &str = include_str!("sql/add_operation_usage.sql");

const BY_OPERATION: &str =
    "SELECT * FROM forum_api_operation_usage WHERE hour >= $1 ORDER BY hour, operation";

const SWEEP: &str = "
WITH tokens AS (DELETE FROM forum_api_usage WHERE hour < $1)
DELETE FROM forum_api_operation_usage WHERE hour < $1";

#[async_trait]
impl UsageStore for PostgresStore {
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let hours: Vec<_> = usage.iter().map(|one| one.hour).collect();
        let tokens: Vec<_> = usage.iter().map(|one| one.token).collect();
        let rows = usage.iter().map(|one| one.counts.to_row());
        let columns = transpose::<{ UsageCounts::COLUMNS }>(rows);
        self.execute(ADD, &with_columns([&hours, &tokens], &columns))
            .await?;
        Ok(())
    }

    async fn token_usage_by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>> {
        let read =
            |columns: &mut RowReader<'_>| Ok((columns.value("hour")?, read_usage_counts(columns)?));
        Ok(match token {
            Some(token) => self.all(OF_TOKEN, &[&since, token], read).await?,
            None => self.all(BY_HOUR, &[&since], read).await?,
        })
    }

    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Lookup, UsageCounts)>> {
        let limit = i64::from(limit);
        let parameters: Parameters<'_> = &[&since, &limit];
        let rows = self.all(BY_TOKEN, parameters, |columns| {
            Ok((columns.value("token")?, read_usage_counts(columns)?))
        });
        Ok(rows.await?)
    }

    async fn add_operation_usage(&self, usage: &[OperationUsage]) -> BackendResult<()> {
        let hours: Vec<_> = usage.iter().map(|one| one.hour).collect();
        let operations: Vec<_> = usage.iter().map(|one| &*one.operation).collect();
        let rows = usage.iter().map(|one| one.counts.to_row());
        let columns = transpose::<{ OperationCounts::COLUMNS }>(rows);
        self.execute(
            ADD_OPERATIONS,
            &with_columns([&hours, &operations], &columns),
        )
        .await?;
        Ok(())
    }

    async fn operation_usage_by_hour(
        &self,
        since: Timestamp,
    ) -> BackendResult<Vec<OperationUsage>> {
        let parameters: Parameters<'_> = &[&since];
        let rows = self.all(BY_OPERATION, parameters, read_operation_usage);
        Ok(rows.await?)
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        self.execute(SWEEP, &[&before]).await?;
        Ok(())
    }
}

/// Returns the columns of rows with `N` values.
fn transpose<const N: usize>(
    rows: impl Iterator<Item = impl IntoIterator<Item = i64>>,
) -> [Vec<i64>; N] {
    let mut columns = [const { Vec::new() }; N];
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

/// Returns the parameters of a statement: the columns of the key, then the columns of the counts.
fn with_columns<'a>(
    key: [&'a (dyn ToSql + Sync); 2],
    counts: &'a [Vec<i64>],
) -> Vec<&'a (dyn ToSql + Sync)> {
    let counts = counts.iter().map(|column| column as &(dyn ToSql + Sync));
    key.into_iter().chain(counts).collect()
}
