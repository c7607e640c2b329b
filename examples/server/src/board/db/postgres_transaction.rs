//! Statements on a connection to Postgres, inside or outside of a transaction.

use std::borrow::Cow;
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{self, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use deadpool_postgres::Client;
use forum_api::host::{BackendError, BackendResult, OverloadedError};
use forum_api::store::postgres::tokio_postgres_0_7;
use forum_api::store::postgres::{self, PostgresError};
use futures_util::future::{join, join_all, try_join_all};
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::last_change::LastChange;
use super::named_params::{Bound, NamedParams, mismatch, named_params};
use super::row::{ReadRow, Row};

/// Time after which a client may repeat an operation that did not run.
pub const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A connection to Postgres, inside or outside of a transaction.
#[derive(Clone, Copy, Debug)]
pub enum Postgres<'a> {
    Connection(&'a Client),
    Transaction(&'a PostgresTransaction<'a>),
}

/// A transaction. It is rolled back when it is dropped before its commit.
///
/// Statements are sent in the order in which their futures are polled first, and Postgres runs them in this order.
/// Futures that are polled together, with `join`, need one round trip.
#[derive(Debug)]
pub struct PostgresTransaction<'a> {
    client: &'a Client,
    kind: TransactionKind,
    failure: &'a Failure,
    /// The statements that earlier transactions of the same kind of change have run; `None` if the transaction does not
    /// record its statements.
    known: Option<&'a [String]>,
    /// The other statements that this transaction has run.
    added: sync::Mutex<Vec<String>>,
    began: Instant,
    is_open: AtomicBool,
    /// Held by the next statement until it is prepared and sent. The others wait in order, and are prepared meanwhile.
    turn: Mutex<()>,
}

#[derive(Clone, Copy, Debug)]
pub struct TransactionKind {
    /// The statements that begin the transaction.
    pub begin: &'static str,
    /// `None` if `begin` sets the timeouts.
    pub timeouts: Option<Timeouts>,
    /// True if the wait for each result is limited.
    pub has_limit: bool,
    /// Maximum time from the beginning to the commit.
    pub max_duration: Option<Duration>,
}

/// Timeouts of a transaction, in the syntax of Postgres. Each transaction sets them, because the sessions of a pooler in
/// transaction mode may not have those of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    pub statement: &'static str,
    /// Maximum time between two statements.
    pub idle_in_transaction: &'static str,
}

impl Timeouts {
    /// Returns the statements that set the timeouts, for the end of a batch of statements.
    fn settings(self) -> String {
        let Self { statement, idle_in_transaction } = self;
        format!(
            "; SET LOCAL statement_timeout = '{statement}'; SET LOCAL idle_in_transaction_session_timeout = '{idle_in_transaction}'"
        )
    }
}

/// The code of the statement that ended a transaction; empty if none did.
pub type Failure = OnceLock<SqlState>;

impl<'a> PostgresTransaction<'a> {
    pub fn new(
        client: &'a Client,
        kind: TransactionKind,
        failure: &'a Failure,
        known: Option<&'a [String]>,
    ) -> Self {
        Self {
            client,
            kind,
            failure,
            known,
            added: sync::Mutex::default(),
            began: Instant::now(),
            is_open: AtomicBool::new(false),
            turn: Mutex::default(),
        }
    }

    /// Prepares the known statements that the connection has not prepared, in one round trip. Call it before
    /// [`begin`](Self::begin).
    pub async fn prepare(&self) -> BackendResult<()> {
        let known = self.known.unwrap_or_default();
        let prepare = known.iter().map(|sql| self.client.prepare_cached(sql));
        self.receive(try_join_all(prepare)).await.map(drop)
    }

    /// Takes the statements that the transaction has run and that were not known.
    pub fn take_added(&self) -> Vec<String> {
        mem::take(&mut self.added.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records a statement, unless it is known.
    fn record(&self, sql: &str) {
        if self.known.is_some_and(|known| !known.iter().any(|known| known == sql)) {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            if !added.iter().any(|added| added == sql) {
                added.push(sql.to_owned());
            }
        }
    }

    /// Begins the transaction, and runs `settings`, in one batch. Other statements can be sent before this future is ready: if it
    /// fails, they fail as well.
    pub async fn begin(&self, settings: &str) -> BackendResult<()> {
        self.is_open.store(true, Ordering::Relaxed);
        let timeouts = self.kind.timeouts.map(Timeouts::settings).unwrap_or_default();
        self.execute_batch(&format!("{}{timeouts}{settings}", self.kind.begin)).await
    }

    /// Runs `changes` and commits, in one round trip if their statements are prepared. Fails without an effect if the
    /// transaction takes longer than its maximum, or if one of its statements has failed. No other statement can follow.
    pub async fn commit_with(&self, changes: &[LastChange<'_>]) -> BackendResult<()> {
        let _turn = self.turn.lock().await;
        let bound: Vec<_> = changes.iter().map(BoundChange::of).collect::<Result<_, _>>()?;
        for change in &bound {
            tracing::trace!(sql = %change.sql, "executing statement");
            self.record(&change.sql);
        }
        let prepare = bound.iter().map(|change| self.client.prepare_cached(&change.sql));
        let statements = self.receive(try_join_all(prepare)).await?;
        if self.kind.max_duration.is_some_and(|most| self.began.elapsed() > most) {
            return Err(BackendError::new(OverloadedError::new(RETRY_AFTER)));
        }
        // If `BEGIN` has failed, Postgres would commit each of `changes` separately. If another statement has failed,
        // `COMMIT` would succeed and roll back.
        if self.failure.get().is_some() {
            return Err(BackendError::new("a statement of the transaction has failed"));
        }
        self.is_open.store(false, Ordering::Relaxed);
        let executions = statements
            .iter()
            .zip(&bound)
            .map(|(statement, change)| self.client.execute(statement, &change.values));
        let commit = self.client.batch_execute("COMMIT");
        let (executed, committed) = join(join_all(executions), commit).await;
        if let Some(error) = executed.into_iter().find_map(Result::err) {
            // An error of Postgres ends the transaction. After another error the outcome is unknown.
            return Err(match error.code() {
                Some(_) => self.failed(error).into(),
                None => error.into(),
            });
        }
        Ok(committed?)
    }

    pub async fn commit(&self) -> BackendResult<()> {
        if self.is_open() { self.commit_with(&[]).await } else { Ok(()) }
    }

    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    async fn query(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> BackendResult<Vec<tokio_postgres::Row>> {
        tracing::trace!(sql, "executing statement");
        self.record(sql);
        self.receive(async {
            let (turn, statement) = join(self.turn.lock(), self.client.prepare_cached(sql)).await;
            send(self.client.query(&statement?, values), turn).await
        })
        .await
    }

    async fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> BackendResult<u64> {
        tracing::trace!(sql, "executing statement");
        self.record(sql);
        self.receive(async {
            let (turn, statement) = join(self.turn.lock(), self.client.prepare_cached(sql)).await;
            send(self.client.execute(&statement?, values), turn).await
        })
        .await
    }

    async fn execute_batch(&self, sql: &str) -> BackendResult<()> {
        self.receive(async {
            let turn = self.turn.lock().await;
            send(self.client.batch_execute(sql), turn).await
        })
        .await
    }

    /// Waits for the result of a statement.
    async fn receive<T>(
        &self,
        result: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> BackendResult<T> {
        // On the heap, because futures of reads on SQLite would contain it as well.
        let checked = Box::pin(async { result.await.map_err(|error| self.failed(error)) });
        Ok(if self.kind.has_limit { postgres::limit_wait(checked).await? } else { checked.await? })
    }

    /// Records the error of a statement before the commit.
    fn failed(&self, error: tokio_postgres::Error) -> PostgresError {
        if let Some(code) = error.code() {
            self.failure.get_or_init(|| code.clone());
        }
        without_effect(self.client, error)
    }
}

/// Sends a statement, which the first poll of `result` does, then lets the next statement be sent, and waits for the
/// result.
async fn send<T>(result: impl Future<Output = T>, turn: MutexGuard<'_, ()>) -> T {
    let mut result = pin!(result);
    let first = poll_fn(|context| Poll::Ready(result.as_mut().poll(context))).await;
    drop(turn);
    match first {
        Poll::Ready(done) => done,
        Poll::Pending => result.await,
    }
}

/// A change with the text and the values of its statement.
struct BoundChange<'a> {
    sql: Cow<'a, str>,
    values: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> BoundChange<'a> {
    fn of(change: &'a LastChange<'_>) -> BackendResult<Self> {
        Ok(match change {
            LastChange::Statements(statements, parameters) => {
                let statement = named_params(statements);
                let values = bound_values(&statement, parameters)?;
                Self { sql: statement.sql.clone().into(), values }
            }
            LastChange::Texts(sql, texts) => {
                let values = texts.iter().map(|text| text as _);
                Self { sql: (*sql).into(), values: values.collect() }
            }
        })
    }
}

impl Drop for PostgresTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open() {
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
        read: &mut ReadRow<'_>,
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
                        && read(&Row::Postgres(&row))?.is_continue()
                    {}
                    BackendResult::Ok(())
                });
                postgres::limit_wait(run).await?;
            }
            Self::Transaction(_) => {
                for row in self.transaction()?.query(sql, &values).await? {
                    if read(&Row::Postgres(&row))?.is_break() {
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

    pub(super) async fn execute_independent(
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
    pub(super) async fn execute_texts(&self, sql: &str, texts: &[String]) -> BackendResult<u64> {
        let values: Vec<_> = texts.iter().map(|text| text as _).collect();
        self.transaction()?.execute(sql, &values).await
    }

    pub(super) async fn commit_with(&self, changes: &[LastChange<'_>]) -> BackendResult<()> {
        self.transaction()?.commit_with(changes).await
    }

    pub fn client(&self) -> &tokio_postgres::Client {
        match self {
            Self::Connection(client) => client,
            Self::Transaction(transaction) => transaction.client,
        }
    }

    fn transaction(&self) -> BackendResult<&PostgresTransaction<'_>> {
        match self {
            Self::Transaction(transaction) if transaction.is_open() => Ok(transaction),
            _ => Err(BackendError::new("a statement needs an open transaction")),
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
