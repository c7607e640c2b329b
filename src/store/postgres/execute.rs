//! Execution of statements: prepared once for each connection, each in its own transaction.

use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use super::pool::{finish, limit_wait};
use super::{PostgresError, audit};
use crate::audit::AuditEntry;
use crate::model::Timestamp;
use crate::store::sql::{ColumnResult, Columns};

pub(super) type Result<T, E = PostgresError> = std::result::Result<T, E>;

/// The parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Runs statements on the connections of a pool, which a host can share.
#[derive(Clone)]
pub(super) struct PostgresExecutor {
    pub(super) pool: Pool,
    pub(super) clock: LeaseClock,
}

/// Clock that decides leases, due times and the expiry of idempotency keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseClock {
    /// The clock of Postgres (`clock_timestamp()`). Only the differences between a node's times are used.
    #[default]
    Database,
    /// The caller's clock, for tests with a manual clock.
    Caller,
}

impl LeaseClock {
    /// Returns the parameter of a statement: null for the clock of Postgres.
    pub(super) fn time(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Database => None,
            Self::Caller => Some(now),
        }
    }
}

impl PostgresExecutor {
    /// Returns the number of rows that the statement changed.
    pub(super) async fn execute(&self, sql: &str, parameters: Parameters<'_>) -> Result<u64> {
        let (client, statement) = self.prepare(sql).await?;
        let executed = client.execute(&statement, parameters).await;
        finish(client, executed)
    }

    /// Runs a statement that changes rows, and writes `audit` in the same statement if it changes at least one row.
    /// Returns the number of changed rows.
    ///
    /// `change` is one `INSERT`, `UPDATE` or `DELETE`, without a `RETURNING` clause.
    pub(super) async fn execute_audited(
        &self,
        change: &str,
        parameters: Parameters<'_>,
        audit: &AuditEntry,
    ) -> Result<u64> {
        let sql = audit::audited_statement(change, parameters.len());
        let values = audit::entry_values(audit);
        let parameters = [parameters, &[&values]].concat();
        Ok(self.first(&sql, &parameters, |row| row.value("count")).await?.unwrap_or_default())
    }

    pub(super) async fn query(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>> {
        let (client, statement) = self.prepare(sql).await?;
        let rows = client.query(&statement, parameters).await;
        finish(client, rows)
    }

    /// Decodes all rows.
    pub(super) async fn all<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&dyn Columns) -> ColumnResult<T>,
    ) -> Result<Vec<T>> {
        let rows = self.query(sql, parameters).await?;
        let decoded = rows.iter().map(|row| read(row));
        Ok(decoded.collect::<ColumnResult<_>>()?)
    }

    /// Decodes all rows of a statement that changes nothing.
    pub(super) async fn read<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&dyn Columns) -> ColumnResult<T>,
    ) -> Result<Vec<T>> {
        let rows = limit_wait(self.all(sql, parameters, read)).await;
        rows.map_err(PostgresError::without_effect)
    }

    /// Decodes the first row, if there is one.
    pub(super) async fn first<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        read: impl Fn(&dyn Columns) -> ColumnResult<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(sql, parameters, read).await?.into_iter().next())
    }

    /// Prepares a statement on a connection of the pool, and logs its text.
    async fn prepare(&self, sql: &str) -> Result<(Client, Statement)> {
        tracing::trace!(sql, "executing statement");
        let client = self.pool.get().await?;
        match client.prepare_cached(sql).await {
            Ok(statement) => Ok((client, statement)),
            Err(error) => finish(client, Err(error)).map_err(PostgresError::without_effect),
        }
    }
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
