//! Usage store.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::execute::{Parameters, RowReader};
use super::rows::read_usage_counts;
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, UsageStore};
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
SELECT nullif(token, ''), sum(requests)::BIGINT, sum(units)::BIGINT, sum(rate_limited)::BIGINT,
    sum(unauthenticated)::BIGINT, sum(forbidden)::BIGINT, sum(errors)::BIGINT
FROM forum_api_usage WHERE hour >= $1 GROUP BY token ORDER BY 2 DESC, token LIMIT $2";

const SWEEP: &str = "DELETE FROM forum_api_usage WHERE hour < $1";

#[async_trait]
impl UsageStore for PostgresStore {
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let hours: Vec<_> = usage.iter().map(|one| one.hour).collect();
        let tokens = usage.iter().map(|one| one.token.as_ref());
        let tokens: Vec<_> = tokens
            .map(|token| token.map_or("", Lookup::as_str))
            .collect();
        let mut counts = [const { Vec::new() }; UsageCounts::COLUMNS];
        for one in usage {
            for (column, count) in counts.iter_mut().zip(one.counts.to_row()) {
                column.push(count);
            }
        }
        let counts = counts.iter().map(|column| column as &(dyn ToSql + Sync));
        let key: Parameters<'_> = &[&hours, &tokens];
        let parameters: Vec<_> = key.iter().copied().chain(counts).collect();
        self.execute(ADD, &parameters).await?;
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
    ) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>> {
        let limit = i64::from(limit);
        let parameters: Parameters<'_> = &[&since, &limit];
        let rows = self.all(BY_TOKEN, parameters, |columns| {
            Ok((columns.value("lookup")?, read_usage_counts(columns)?))
        });
        Ok(rows.await?)
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        self.execute(SWEEP, &[&before]).await?;
        Ok(())
    }
}
