//! Execution of statements, each in its own transaction.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::{Parameter, PostgresDriver, PostgresError, audit};
use crate::audit::AuditEntry;
use crate::model::Timestamp;
use crate::store::sql::{ColumnResult, Columns};

pub(super) type Result<T, E = PostgresError> = std::result::Result<T, E>;

/// Limit of the wait for the result of a read. It is longer than the timeout of a statement.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);

/// Runs statements through a driver.
#[derive(Clone)]
pub(super) struct PostgresExecutor {
    driver: Arc<dyn PostgresDriver>,
    pub(super) clock: LeaseClock,
}

/// Clock that decides leases, due times, ages (retentions, statistics, failures of endpoints) and the expiry of idempotency
/// keys.
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
    pub(super) fn new(driver: &(impl PostgresDriver + Clone), clock: LeaseClock) -> Self {
        Self { driver: Arc::new(driver.clone()), clock }
    }

    /// Returns the number of rows that the statement changed.
    pub(super) async fn execute(&self, sql: &str, parameters: &[Parameter]) -> Result<u64> {
        tracing::trace!(sql, "executing statement");
        self.driver.execute(sql, parameters).await.map_err(PostgresError::of_statement)
    }

    /// Runs a statement that changes rows, and writes `audit` in the same statement if it changes at least one row.
    /// Returns the number of changed rows.
    ///
    /// `change` is one `INSERT`, `UPDATE` or `DELETE`, without a `RETURNING` clause.
    pub(super) async fn execute_audited(
        &self,
        change: &str,
        mut parameters: Vec<Parameter>,
        audit: &AuditEntry,
    ) -> Result<u64> {
        let sql = audit::audited_statement(change, parameters.len());
        parameters.push(audit::entry_values(audit));
        Ok(self.first(&sql, &parameters, |row| row.value("count")).await?.unwrap_or_default())
    }

    /// Decodes all rows.
    pub(super) async fn all<T: Send>(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send,
    ) -> Result<Vec<T>> {
        tracing::trace!(sql, "executing statement");
        let mut decoded = Vec::new();
        let rows = &mut decoded;
        let mut read_row = move |row: &dyn Columns| {
            rows.push(read(row)?);
            Ok(())
        };
        let completed = self.driver.query(sql, parameters, &mut read_row).await;
        completed.map_err(PostgresError::of_statement)?;
        Ok(decoded)
    }

    /// Decodes all rows of a statement that changes nothing.
    pub(super) async fn read<T: Send>(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send,
    ) -> Result<Vec<T>> {
        let rows = limit_wait(self.all(sql, parameters, read)).await;
        rows.map_err(PostgresError::without_effect)
    }

    /// Decodes the first row, if there is one.
    pub(super) async fn first<T: Send>(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send,
    ) -> Result<Option<T>> {
        Ok(self.all(sql, parameters, read).await?.into_iter().next())
    }
}

/// Waits up to 15 s for an operation that has no effect if it fails ([`PostgresError::without_effect`]), and then drops
/// it. A connection can stop responding without an error.
///
/// # Errors
/// The errors of `operation`. After the timeout, a [`PostgresError`] with an
/// [`OverloadedError`](crate::host::OverloadedError) as its source.
pub async fn limit_wait<T, E: From<PostgresError>>(
    operation: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let no_response = |_| Err(PostgresError::not_run("no response from Postgres").into());
    let result = timeout(RESPONSE_TIMEOUT, operation).await;
    result.unwrap_or_else(no_response)
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
