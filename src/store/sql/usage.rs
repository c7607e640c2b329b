//! Usage store.

use async_trait::async_trait;

use super::rows::read_usage_counts;
use super::{SqlExecutor, SqlStore, Statement};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

pub(crate) const BY_HOUR: &str = "
    SELECT hour, CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(units) AS BIGINT) AS units,
        CAST(sum(rate_limited) AS BIGINT) AS rate_limited, CAST(sum(unauthenticated) AS BIGINT) AS unauthenticated,
        CAST(sum(forbidden) AS BIGINT) AS forbidden, CAST(sum(errors) AS BIGINT) AS errors
    FROM forum_api_usage WHERE hour >= ?1 GROUP BY hour ORDER BY hour";

pub(crate) const OF_TOKEN: &str = "
    SELECT hour, requests, units, rate_limited, unauthenticated, forbidden, errors
    FROM forum_api_usage WHERE hour >= ?1 AND token = ?2 ORDER BY hour";

const BY_TOKEN: &str = "
    SELECT nullif(token, '') AS lookup,
        CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(units) AS BIGINT) AS units,
        CAST(sum(rate_limited) AS BIGINT) AS rate_limited, CAST(sum(unauthenticated) AS BIGINT) AS unauthenticated,
        CAST(sum(forbidden) AS BIGINT) AS forbidden, CAST(sum(errors) AS BIGINT) AS errors
    FROM forum_api_usage WHERE hour >= ?1 GROUP BY token ORDER BY 2 DESC, token LIMIT ?2";

pub(crate) const SWEEP: &str = "DELETE FROM forum_api_usage WHERE hour < ?1";

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
        self.0
            .query(usage, |row| {
                Ok((row.value("hour")?, read_usage_counts(row)?))
            })
            .await
    }

    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>> {
        let usage = Statement::new(BY_TOKEN, [since.into(), limit.into()]);
        self.0
            .query(usage, |row| {
                Ok((row.optional("lookup")?, read_usage_counts(row)?))
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        let sweep = Statement::new(SWEEP, [before.into()]);
        self.0.change(sweep).await.map(drop)
    }
}
