//! Statements on a connection to Postgres, inside or outside of a transaction.

use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::OnceLock;

use deadpool_postgres::Client;
use forum_api::host::{BackendError, BackendResult};
use forum_api::store::postgres::tokio_postgres_0_7;
use forum_api::store::postgres::{self, PostgresError};
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::named_params::{Bound, NamedParams, mismatch, named_params};

/// A connection to Postgres, inside or outside of a transaction.
#[derive(Clone, Copy, Debug)]
pub enum Postgres<'a> {
    Connection(&'a Client),
    Transaction(&'a PostgresTransaction<'a>),
}

/// A transaction. It is rolled back when it is dropped before its commit.
///
/// A transaction of the driver begins with a statement of its own; this one begins together with its settings.
#[derive(Debug)]
pub struct PostgresTransaction<'a> {
    client: &'a Client,
    kind: TransactionKind,
    failure: &'a Failure,
    is_open: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct TransactionKind {
    /// The statements that begin the transaction, which are sent together.
    pub begin: &'static str,
    /// True if the wait for each result is limited.
    pub has_limit: bool,
    /// True if an earlier attempt ended with a conflict.
    pub is_repeated: bool,
}

/// The code of the statement that ended a transaction; empty if none did.
pub type Failure = OnceLock<SqlState>;

impl<'a> PostgresTransaction<'a> {
    pub async fn begin(
        client: &'a Client,
        kind: TransactionKind,
        failure: &'a Failure,
    ) -> BackendResult<Self> {
        // A value exists before the statements are sent, so that it is rolled back if this wait ends early.
        let transaction = Self { client, kind, failure, is_open: true };
        transaction.execute_batch(kind.begin).await?;
        Ok(transaction)
    }

    pub async fn commit(mut self) -> BackendResult<()> {
        self.is_open = false;
        Ok(self.client.batch_execute("COMMIT").await?)
    }

    async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> BackendResult<Vec<Row>> {
        tracing::trace!(sql, "executing statement");
        self.receive(async {
            let statement = self.client.prepare_cached(sql).await?;
            self.client.query(&statement, values).await
        })
        .await
    }

    async fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> BackendResult<u64> {
        tracing::trace!(sql, "executing statement");
        self.receive(async {
            let statement = self.client.prepare_cached(sql).await?;
            self.client.execute(&statement, values).await
        })
        .await
    }

    async fn execute_batch(&self, sql: &str) -> BackendResult<()> {
        self.receive(self.client.batch_execute(sql)).await
    }

    /// Waits for the result of a statement.
    async fn receive<T>(
        &self,
        result: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> BackendResult<T> {
        // On the heap, because futures of reads on SQLite would contain it as well.
        let failed = |error: tokio_postgres::Error| {
            if let Some(code) = error.code() {
                self.failure.get_or_init(|| code.clone());
            }
            without_effect(self.client, error)
        };
        let checked = Box::pin(async { result.await.map_err(failed) });
        Ok(if self.kind.has_limit { postgres::limit_wait(checked).await? } else { checked.await? })
    }
}

impl Drop for PostgresTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // The first poll sends the statement. The next use of the connection follows it.
            drop(self.client.batch_execute("ROLLBACK").now_or_never());
        }
    }
}

/// Converts the error of a read, or of a statement before the commit. The statement is prepared again if it was outdated.
fn without_effect(client: &Client, error: tokio_postgres::Error) -> PostgresError {
    if let Some(code) = error.code() {
        tokio_postgres_0_7::forget_if_outdated(client, code);
    }
    PostgresError::from(error).without_effect()
}

impl Postgres<'_> {
    /// Passes each row to `read` until it returns `Break`. Outside of a transaction, at most a few rows are in memory.
    pub(super) async fn each_row(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        mut read: impl FnMut(&Row) -> BackendResult<ControlFlow<()>>,
    ) -> BackendResult<()> {
        let statement = named_params(&[sql]);
        let values = bound_values(&statement, parameters)?;
        let sql = &*statement.sql;
        match self {
            Self::Connection(client) => {
                tracing::trace!(sql, "executing statement");
                let no_effect = |error| without_effect(client, error);
                let run = Box::pin(async {
                    let statement = client.prepare_cached(sql).await.map_err(no_effect)?;
                    let mut rows =
                        pin!(client.query_raw(&statement, values).await.map_err(no_effect)?);
                    while let Some(row) = rows.try_next().await.map_err(no_effect)?
                        && read(&row)?.is_continue()
                    {}
                    BackendResult::Ok(())
                });
                postgres::limit_wait(run).await?;
            }
            Self::Transaction(transaction) => {
                for row in transaction.query(sql, &values).await? {
                    if read(&row)?.is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) async fn execute(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
    ) -> BackendResult<u64> {
        let statement = named_params(&[sql]);
        let values = bound_values(&statement, parameters)?;
        self.transaction()?.execute(&statement.sql, &values).await
    }

    pub(super) async fn execute_all(
        &self,
        statements: &[&'static str],
        parameters: &[Bound<'_>],
    ) -> BackendResult<Option<i64>> {
        let statement = named_params(statements);
        let values = bound_values(&statement, parameters)?;
        let rows = self.transaction()?.query(&statement.sql, &values).await?;
        Ok(rows.last().map(|row| row.try_get(0)).transpose()?)
    }

    pub(super) async fn execute_batch(&self, sql: &str) -> BackendResult<()> {
        self.transaction()?.execute_batch(sql).await
    }

    /// Runs a statement whose parameters are texts, in order.
    pub(super) async fn execute_texts(&self, sql: &str, texts: &[String]) -> BackendResult<()> {
        let values: Vec<_> = texts.iter().map(|text| text as _).collect();
        self.transaction()?.execute(sql, &values).await.map(drop)
    }

    /// Returns whether the transaction runs again after a conflict.
    pub const fn is_repeated(&self) -> bool {
        match self {
            Self::Transaction(transaction) => transaction.kind.is_repeated,
            Self::Connection(_) => false,
        }
    }

    pub fn client(&self) -> &tokio_postgres::Client {
        match self {
            Self::Connection(client) => client,
            Self::Transaction(transaction) => transaction.client,
        }
    }

    fn transaction(&self) -> BackendResult<&PostgresTransaction<'_>> {
        match self {
            Self::Transaction(transaction) => Ok(transaction),
            Self::Connection(_) => Err(BackendError::new("a statement needs a transaction")),
        }
    }
}

/// Returns the values in the order of the statement's numbers.
fn bound_values<'a>(
    statement: &NamedParams,
    parameters: &[Bound<'a>],
) -> BackendResult<Vec<&'a (dyn ToSql + Sync)>> {
    let value = |name: &String| {
        let bound = parameters.iter().find(|(bound, _)| bound == name);
        bound.map(|(_, value)| *value as &(dyn ToSql + Sync))
    };
    statement
        .names
        .iter()
        .map(value)
        .collect::<Option<Vec<_>>>()
        .filter(|values| values.len() == parameters.len())
        .ok_or_else(mismatch)
}
