//! Execution of statements, each in its own transaction.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{Parameter, PostgresDriver, PostgresError, audit};
use crate::audit::AuditEntry;
use crate::model::Timestamp;
use crate::runtime::TokioRuntime;
use crate::store::sql::{ColumnResult, Columns};
use crate::task::spawn_and_join;

pub(super) type Result<T, E = PostgresError> = std::result::Result<T, E>;

/// Limit of the wait for the result of a read. It is longer than the timeout of a statement.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);

/// Time that a change waits for one of the connections for changes.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs statements through a driver.
///
/// A change can wait without a limit: the time limit of a statement does not cover the wait of its commit for a
/// synchronous standby. Such changes therefore use only a part of the connections, so that reads continue. Changes with
/// `synchronous_commit = off` do not wait, and can use all connections.
#[derive(Clone)]
pub(super) struct PostgresExecutor {
    driver: Arc<dyn PostgresDriver>,
    changes: Arc<Semaphore>,
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
    /// Changes use up to one `part`-th of the driver's connections, at least one, and all if the driver does not know their
    /// number.
    pub(super) fn new(
        driver: &(impl PostgresDriver + Clone),
        clock: LeaseClock,
        part: usize,
    ) -> Self {
        let changes = match driver.max_connections() {
            Some(connections) => (connections / part).max(1),
            None => Semaphore::MAX_PERMITS,
        };
        Self { driver: Arc::new(driver.clone()), changes: Arc::new(Semaphore::new(changes)), clock }
    }

    /// Returns an executor for checks and migrations, which can use all connections.
    pub(super) fn for_schema(driver: &(impl PostgresDriver + Clone)) -> Self {
        Self::new(driver, LeaseClock::Database, 1)
    }

    /// Runs a change, and returns the number of rows that it changed.
    pub(super) async fn execute(
        &self,
        sql: impl Into<Cow<'static, str>>,
        parameters: impl Into<Vec<Parameter>>,
    ) -> Result<u64> {
        let (driver, sql, parameters) = (Arc::clone(&self.driver), sql.into(), parameters.into());
        self.change(async move { run(&*driver, &sql, &parameters).await }).await
    }

    /// Runs a change whose commit does not wait for the disk or for a standby (`synchronous_commit`).
    pub(super) async fn execute_asynchronous(
        &self,
        sql: &str,
        parameters: &[Parameter],
    ) -> Result<u64> {
        run(&*self.driver, sql, parameters).await
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
        Ok(self.first(sql, parameters, |row| row.value("count")).await?.unwrap_or_default())
    }

    /// Runs a change, and decodes the rows that it returns.
    pub(super) async fn all<T: Send + 'static>(
        &self,
        sql: impl Into<Cow<'static, str>>,
        parameters: impl Into<Vec<Parameter>>,
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send + 'static,
    ) -> Result<Vec<T>> {
        let (driver, sql, parameters) = (Arc::clone(&self.driver), sql.into(), parameters.into());
        self.change(async move { query(&*driver, &sql, &parameters, read).await }).await
    }

    /// Runs a change, and decodes the first row that it returns, if there is one.
    pub(super) async fn first<T: Send + 'static>(
        &self,
        sql: impl Into<Cow<'static, str>>,
        parameters: impl Into<Vec<Parameter>>,
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send + 'static,
    ) -> Result<Option<T>> {
        Ok(self.all(sql, parameters, read).await?.into_iter().next())
    }

    /// Runs a change whose commit does not wait for the disk or for a standby (`synchronous_commit`), and decodes the
    /// rows that it returns.
    pub(super) async fn all_asynchronous<T: Send>(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send,
    ) -> Result<Vec<T>> {
        query(&*self.driver, sql, parameters, read).await
    }

    /// Decodes all rows of a statement that changes nothing.
    pub(super) async fn read<T: Send>(
        &self,
        sql: &str,
        parameters: &[Parameter],
        read: impl Fn(&dyn Columns) -> ColumnResult<T> + Send,
    ) -> Result<Vec<T>> {
        let rows = limit_wait(query(&*self.driver, sql, parameters, read)).await;
        rows.map_err(PostgresError::without_effect)
    }

    /// Runs a statement on one of the connections for changes. If the future is dropped, the statement completes and
    /// keeps its connection until then: otherwise each repetition would occupy a further connection.
    async fn change<T: Send + 'static>(
        &self,
        statement: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let turn = timeout(TURN_TIMEOUT, Arc::clone(&self.changes).acquire_owned()).await;
        let Ok(Ok(permit)) = turn else {
            return Err(PostgresError::not_run("other changes wait for Postgres"));
        };
        let completed = spawn_and_join(&TokioRuntime, async move {
            let done = statement.await;
            drop(permit);
            done
        });
        completed
            .await
            .unwrap_or_else(|| Err(PostgresError::disconnected("the statement did not complete")))
    }
}

async fn run(driver: &dyn PostgresDriver, sql: &str, parameters: &[Parameter]) -> Result<u64> {
    tracing::trace!(sql, "executing statement");
    driver.execute(sql, parameters).await.map_err(PostgresError::of_statement)
}

async fn query<T: Send>(
    driver: &dyn PostgresDriver,
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
    let completed = driver.query(sql, parameters, &mut read_row).await;
    completed.map_err(PostgresError::of_statement)?;
    Ok(decoded)
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
