//! Usage store.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::execute::{Columns, Parameters};
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
        let each = |count: fn(&UsageCounts) -> u64| -> Vec<i64> {
            let counts = usage.iter().map(|one| count(&one.counts));
            counts
                .map(|count| i64::try_from(count).unwrap_or(i64::MAX))
                .collect()
        };
        let hours: Vec<_> = usage.iter().map(|one| one.hour).collect();
        let tokens: Vec<_> = usage.iter().map(|one| one.token).collect();
        let parameters: Parameters<'_> = &[
            &hours,
            &tokens,
            &each(|counts| counts.requests),
            &each(|counts| counts.units),
            &each(|counts| counts.rate_limited),
            &each(|counts| counts.unauthenticated),
            &each(|counts| counts.forbidden),
            &each(|counts| counts.errors),
        ];
        self.execute(ADD, parameters).await?;
        Ok(())
    }

    async fn by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>> {
        let read =
            |columns: &mut Columns<'_>| Ok((columns.value("hour")?, read_usage_counts(columns)?));
        Ok(match token {
            Some(token) => self.all(OF_TOKEN, &[&since, token], read).await?,
            None => self.all(BY_HOUR, &[&since], read).await?,
        })
    }

    async fn by_token(
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
        let mut columns: [Vec<i64>; OperationCounts::COLUMNS] = Default::default();
        for one in usage {
            for (column, value) in columns.iter_mut().zip(one.counts.to_row()) {
                column.push(value);
            }
        }
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&hours, &operations];
        parameters.extend(columns.iter().map(|column| column as &(dyn ToSql + Sync)));
        self.execute(ADD_OPERATIONS, &parameters).await?;
        Ok(())
    }

    async fn by_operation(&self, since: Timestamp) -> BackendResult<Vec<OperationUsage>> {
        let parameters: Parameters<'_> = &[&since];
        let rows = self.all(BY_OPERATION, parameters, read_operation_usage);
        Ok(rows.await?)
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        self.execute(SWEEP, &[&before]).await?;
        Ok(())
    }
}
