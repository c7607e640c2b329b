//! Usage store.

use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};

use super::execute::{all, change};
use super::rows::{RowReader, read_usage_counts};
use super::{Database, SqliteError};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

const ADD: &str = "
    INSERT INTO forum_api_usage AS stored
        (hour, token, requests, units, rate_limited, unauthenticated, forbidden, errors)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (hour, token) DO UPDATE SET
        requests = stored.requests + excluded.requests,
        units = stored.units + excluded.units,
        rate_limited = stored.rate_limited + excluded.rate_limited,
        unauthenticated = stored.unauthenticated + excluded.unauthenticated,
        forbidden = stored.forbidden + excluded.forbidden,
        errors = stored.errors + excluded.errors";

pub(super) const BY_HOUR: &str = "
    SELECT hour, sum(requests) AS requests, sum(units) AS units, sum(rate_limited) AS rate_limited,
        sum(unauthenticated) AS unauthenticated, sum(forbidden) AS forbidden, sum(errors) AS errors
    FROM forum_api_usage WHERE hour >= ?1 GROUP BY hour ORDER BY hour";

pub(super) const OF_TOKEN: &str = "
    SELECT hour, requests, units, rate_limited, unauthenticated, forbidden, errors
    FROM forum_api_usage WHERE hour >= ?1 AND token = ?2 ORDER BY hour";

const BY_TOKEN: &str = "
    SELECT nullif(token, '') AS lookup, sum(requests) AS requests, sum(units) AS units, sum(rate_limited) AS rate_limited,
        sum(unauthenticated) AS unauthenticated, sum(forbidden) AS forbidden, sum(errors) AS errors
    FROM forum_api_usage WHERE hour >= ?1 GROUP BY token ORDER BY 2 DESC, token LIMIT ?2";

pub(super) const SWEEP: &str = "DELETE FROM forum_api_usage WHERE hour < ?1";

/// Usage in the table `forum_api_usage`.
#[derive(Clone, Debug)]
pub struct SqliteUsageStore(Database);

impl SqliteUsageStore {
    /// Creates a store in `database`.
    pub const fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl UsageStore for SqliteUsageStore {
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let usage = usage.to_vec();
        let add = self.0.write_background::<_, SqliteError>(move |savepoint| {
            for one in usage {
                let hour = one.hour.as_millis();
                let token = one.token.as_ref().map_or("", Lookup::as_str);
                let key = [Value::from(hour), token.to_owned().into()];
                let counts = one.counts.to_row().map(Value::from);
                let row = key.into_iter().chain(counts);
                change(savepoint, ADD, params_from_iter(row))?;
            }
            Ok(())
        });
        Ok(add.await?)
    }

    async fn token_usage_by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>> {
        let token = token.copied();
        let read = self.0.read::<_, SqliteError>(move |connection| {
            let read = |row: &Row<'_>| Ok((row.value("hour")?, read_usage_counts(row)?));
            Ok(match token {
                Some(token) => all(connection, OF_TOKEN, params![since, token], read)?,
                None => all(connection, BY_HOUR, [since], read)?,
            })
        });
        Ok(read.await?)
    }

    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>> {
        let read = self.0.read::<_, SqliteError>(move |connection| {
            Ok(all(connection, BY_TOKEN, params![since, limit], |row| {
                Ok((row.value("lookup")?, read_usage_counts(row)?))
            })?)
        });
        Ok(read.await?)
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        let sweep = self.0.write_background::<_, SqliteError>(move |savepoint| {
            change(savepoint, SWEEP, [before])?;
            Ok(())
        });
        Ok(sweep.await?)
    }
}
