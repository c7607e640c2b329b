//! Statements on a connection to Postgres and in a transaction, in the order that [`postgres`](super::postgres) describes.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use deadpool_postgres::{Client, StatementCache};
use forum_api::store::postgres::{self, PostgresError};
use futures_util::TryStreamExt as _;
use tokio::sync::{self, MutexGuard};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Statement};

use super::named_params::{Bound, MISMATCH, NamedParams, OwnedBound, Param, named_params};
use super::{DbError, DbResult};

/// A connection to Postgres, inside or outside of a transaction.
#[derive(Clone, Copy)]
pub enum Postgres<'a> {
    Connection(&'a Client),
    Transaction(&'a PostgresTransaction<'a>),
}

/// A transaction. It is rolled back when it is dropped before `COMMIT` is sent.
pub struct PostgresTransaction<'a> {
    client: &'a tokio_postgres::Client,
    statements: Arc<StatementCache>,
    /// Held while a statement is prepared and sent.
    turn: sync::Mutex<()>,
    deferred: Mutex<Vec<Deferred>>,
    /// True if this value ends the transaction.
    is_open: AtomicBool,
    failure: &'a Failure,
    /// True if an earlier attempt ended with a conflict.
    pub is_repeated: bool,
    /// The transaction that [`PostgresDatabase::write_after`](super::postgres::PostgresDatabase::write_after) begins and ends; `None` for commands.
    inner: Option<&'a tokio_postgres::Transaction<'a>>,
}

/// The code of the statement that ended a transaction; empty if none did.
pub type Failure = OnceLock<SqlState>;

/// A statement and its values, in the order of their numbers.
type Deferred = (String, Vec<Box<dyn ToSql + Send + Sync>>);

impl fmt::Debug for PostgresTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresTransaction")
    }
}

impl<'a> PostgresTransaction<'a> {
    pub fn of(
        client: &'a tokio_postgres::Client,
        statements: Arc<StatementCache>,
        failure: &'a Failure,
        inner: Option<&'a tokio_postgres::Transaction<'a>>,
    ) -> Self {
        Self {
            client,
            statements,
            turn: sync::Mutex::default(),
            deferred: Mutex::default(),
            is_open: AtomicBool::new(inner.is_none()),
            failure,
            is_repeated: false,
            inner,
        }
    }

    async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> DbResult<Vec<Row>> {
        self.flush().await?;
        let (turn, statement) = self.prepare(sql).await?;
        self.receive(send(self.client.query(&statement, values), turn))
            .await
    }

    async fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> DbResult<u64> {
        self.flush().await?;
        let (turn, statement) = self.prepare(sql).await?;
        self.receive(send(self.client.execute(&statement, values), turn))
            .await
    }

    pub async fn execute_batch(&self, sql: &str) -> DbResult<()> {
        self.flush().await?;
        let turn = self.turn.lock().await;
        self.receive(send(self.client.batch_execute(sql), turn))
            .await
    }

    fn defer(&self, sql: String, values: Vec<Box<dyn ToSql + Send + Sync>>) {
        self.deferred().push((sql, values));
    }

    /// Runs the deferred statements.
    pub async fn flush(&self) -> DbResult<()> {
        for sent in self.send_deferred().await? {
            self.check(sent.result().await)?;
        }
        Ok(())
    }

    /// Sends the deferred statements and `COMMIT`, and then waits for the results.
    pub async fn commit(&self) -> DbResult<()> {
        let deferred = self.send_deferred().await?;
        let commit = Sent::begin(self.client.batch_execute("COMMIT")).await;
        self.is_open.store(false, Ordering::Relaxed);
        for sent in deferred {
            self.check(sent.result().await)?;
        }
        Ok(commit.result().await?)
    }

    async fn send_deferred(
        &self,
    ) -> DbResult<Vec<Sent<impl Future<Output = Result<u64, tokio_postgres::Error>>>>> {
        let deferred = mem::take(&mut *self.deferred());
        let mut sent = Vec::with_capacity(deferred.len());
        for (sql, values) in deferred {
            let (_turn, statement) = match self.prepare(&sql).await {
                Ok(prepared) => prepared,
                Err(error) => {
                    // An earlier statement that failed is the cause, and decides whether the transaction runs again.
                    for earlier in sent {
                        self.check(Sent::result(earlier).await)?;
                    }
                    return Err(error);
                }
            };
            let client = self.client;
            let execute = async move { client.execute_raw(&statement, values).await };
            sent.push(Sent::begin(execute).await);
        }
        Ok(sent)
    }

    fn deferred(&self) -> std::sync::MutexGuard<'_, Vec<Deferred>> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn prepare(&self, sql: &str) -> DbResult<(MutexGuard<'_, ()>, Statement)> {
        let turn = self.turn.lock().await;
        tracing::trace!(sql, "executing statement");
        let statement = self
            .receive(self.statements.prepare(self.client, sql))
            .await?;
        Ok((turn, statement))
    }

    /// Waits for a result before `COMMIT`. The wait is limited, except in a migration.
    async fn receive<T>(
        &self,
        result: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> DbResult<T> {
        // On the heap, because futures of reads on SQLite would contain it as well.
        let checked = Box::pin(async { self.check(result.await) });
        match self.inner {
            Some(_) => checked.await,
            None => postgres::limit_wait(checked).await,
        }
    }

    fn check<T>(&self, result: Result<T, tokio_postgres::Error>) -> DbResult<T> {
        result.map_err(|error| {
            let code = error.code();
            // Statements that were sent after the failed one have this code.
            let code = code.filter(|code| **code != SqlState::IN_FAILED_SQL_TRANSACTION);
            if let Some(code) = code {
                self.failure.get_or_init(|| code.clone());
            }
            // `COMMIT` was not sent, or Postgres reported the error and rolls back.
            if self.is_open.load(Ordering::Relaxed) || error.as_db_error().is_some() {
                PostgresError::from(error).without_effect().into()
            } else {
                error.into()
            }
        })
    }
}

impl Drop for PostgresTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open.load(Ordering::Relaxed) {
            let rollback = pin!(self.client.batch_execute("ROLLBACK"));
            // The first poll sends it.
            let _ = rollback.poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}

/// A statement that was sent.
enum Sent<F: Future> {
    Pending(Pin<Box<F>>),
    Ready(F::Output),
}

impl<F: Future> Sent<F> {
    /// Polls a statement once, which sends it.
    async fn begin(statement: F) -> Self {
        let mut statement = Box::pin(statement);
        match poll_fn(|context| Poll::Ready(statement.as_mut().poll(context))).await {
            Poll::Ready(output) => Self::Ready(output),
            Poll::Pending => Self::Pending(statement),
        }
    }

    async fn result(self) -> F::Output {
        match self {
            Self::Pending(statement) => statement.await,
            Self::Ready(output) => output,
        }
    }
}

/// Sends a statement, lets other statements be sent, and waits for the result.
async fn send<F: Future>(statement: F, turn: MutexGuard<'_, ()>) -> F::Output {
    let sent = Sent::begin(statement).await;
    drop(turn);
    sent.result().await
}

impl Postgres<'_> {
    /// Passes each row to `read` until it returns `Break`. Outside of a transaction, at most a few rows are in memory.
    pub(super) async fn each_row(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
        mut read: impl FnMut(&Row) -> DbResult<ControlFlow<()>>,
    ) -> DbResult<()> {
        let statement = named_params(&[sql]);
        let values = values(&statement, parameters)?;
        let sql = &*statement.sql;
        match self {
            Self::Connection(client) => {
                tracing::trace!(sql, "executing statement");
                let no_effect = |error| PostgresError::from(error).without_effect();
                let run = Box::pin(async {
                    let statement = client.prepare_cached(sql).await.map_err(no_effect)?;
                    let rows = client.query_raw(&statement, values).await;
                    let mut rows = pin!(rows.map_err(no_effect)?);
                    while let Some(row) = rows.try_next().await.map_err(no_effect)?
                        && read(&row)?.is_continue()
                    {}
                    DbResult::Ok(())
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
    ) -> DbResult<u64> {
        let statement = named_params(&[sql]);
        let values = values(&statement, parameters)?;
        self.transaction()?.execute(&statement.sql, &values).await
    }

    pub(super) fn defer(
        &self,
        statements: &[&'static str],
        parameters: Vec<OwnedBound>,
    ) -> DbResult<()> {
        let statement = named_params(statements);
        let mut parameters: HashMap<_, _> = parameters.into_iter().collect();
        let values = statement
            .names
            .iter()
            .map(|name| Some(parameters.remove(&**name)? as Box<_>))
            .collect::<Option<Vec<_>>>()
            .filter(|_| parameters.is_empty())
            .ok_or(MISMATCH)?;
        self.transaction()?.defer(statement.sql.clone(), values);
        Ok(())
    }

    pub(super) fn defer_texts(&self, sql: &str, parameters: Vec<String>) -> DbResult<()> {
        let values = parameters.into_iter().map(|text| Box::new(text) as Box<_>);
        self.transaction()?.defer(sql.into(), values.collect());
        Ok(())
    }

    pub(super) async fn execute_batch(&self, sql: &str) -> DbResult<()> {
        self.transaction()?.execute_batch(sql).await
    }

    pub(super) async fn copy_in<'b, const N: usize>(
        &self,
        copy: &str,
        types: &[Type; N],
        rows: impl Iterator<Item = [&'b (dyn Param + Sync); N]> + Send,
    ) -> DbResult<()> {
        let transaction = self.transaction()?;
        transaction.flush().await?;
        let sink = transaction.check(transaction.client.copy_in(copy).await)?;
        let mut copy = pin!(BinaryCopyInWriter::new(sink, types));
        for row in rows {
            let row = row.map(|value| value as &(dyn ToSql + Sync));
            copy.as_mut().write(&row).await?;
        }
        copy.finish().await?;
        Ok(())
    }

    /// Returns whether the transaction runs again after a conflict.
    pub const fn is_repeated(&self) -> bool {
        match self {
            Self::Transaction(transaction) => transaction.is_repeated,
            Self::Connection(_) => false,
        }
    }

    /// The transaction of a migration.
    pub const fn migration(&self) -> Option<&tokio_postgres::Transaction<'_>> {
        match self {
            Self::Transaction(transaction) => transaction.inner,
            Self::Connection(_) => None,
        }
    }

    pub fn client(&self) -> &tokio_postgres::Client {
        match self {
            Self::Connection(client) => client,
            Self::Transaction(transaction) => transaction.client,
        }
    }

    fn transaction(&self) -> DbResult<&PostgresTransaction<'_>> {
        match self {
            Self::Transaction(transaction) => Ok(transaction),
            Self::Connection(_) => Err(DbError::Invalid("a statement needs a transaction")),
        }
    }
}

impl fmt::Debug for Postgres<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}

/// Returns the values in the order of the statement's numbers.
fn values<'a>(
    statement: &NamedParams,
    parameters: &[Bound<'a>],
) -> DbResult<Vec<&'a (dyn ToSql + Sync)>> {
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
        .ok_or(MISMATCH)
}
