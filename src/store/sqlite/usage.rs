//! Usage store.

use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};

use super::execute::{all, change};
use super::rows::{RowReader, read_operation_usage, read_usage_counts};
use super::{Database, SqliteError};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{OperationUsage, TokenUsage, UsageCounts, UsageStore};
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
    SELECT token, sum(requests) AS requests, sum(units) AS units, sum(rate_limited) AS rate_limited,
        sum(unauthenticated) AS unauthenticated, sum(forbidden) AS forbidden, sum(errors) AS errors
    FROM forum_api_usage WHERE hour >= ?1 GROUP BY token ORDER BY 2 DESC, token LIMIT ?2";

pub(super) const ADD_OPERATIONS: &str = include_str!("sql/add_operation_usage.sql");

pub(super) const BY_OPERATION: &str =
    "SELECT * FROM forum_api_operation_usage WHERE hour >= ?1 ORDER BY hour, operation";

pub(super) const SWEEP: &str = "DELETE FROM forum_api_usage WHERE hour < ?1";

pub(super) const SWEEP_OPERATIONS: &str = "DELETE FROM forum_api_operation_usage WHERE hour < ?1";

/// Usage in the tables `forum_api_usage` and `forum_api_operation_usage`.
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
                let key = [Value::from(hour), one.token.as_str().to_owned().into()];
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
    ) -> BackendResult<Vec<(Lookup, UsageCounts)>> {
        let read = self.0.read::<_, SqliteError>(move |connection| {
            Ok(all(connection, BY_TOKEN, params![since, limit], |row| {
                Ok((row.value("token")?, read_usage_counts(row)?))
            })?)
        });
        Ok(read.await?)
    }

    async fn add_operation_usage(&self, usage: &[OperationUsage]) -> BackendResult<()> {
        let usage = usage.to_vec();
        let add = self.0.write_background::<_, SqliteError>(move |savepoint| {
            for one in usage {
                let hour = one.hour.as_millis();
                let key = [Value::from(hour), one.operation.into_owned().into()];
                let counts = one.counts.to_row().map(Value::from);
                let row = key.into_iter().chain(counts);
                change(savepoint, ADD_OPERATIONS, params_from_iter(row))?;
            }
            Ok(())
        });
        Ok(add.await?)
    }

    async fn operation_usage_by_hour(
        &self,
        since: Timestamp,
    ) -> BackendResult<Vec<OperationUsage>> {
        let read = self.0.read::<_, SqliteError>(move |connection| {
            Ok(all(
                connection,
                BY_OPERATION,
                [since],
                read_operation_usage,
            )?)
        });
        Ok(read.await?)
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        let sweep = self.0.write_background::<_, SqliteError>(move |savepoint| {
            change(savepoint, SWEEP, [before])?;
            change(savepoint, SWEEP_OPERATIONS, [before])?;
            Ok(())
        });
        Ok(sweep.await?)
    }
}
