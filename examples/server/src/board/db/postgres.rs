//! Statements and transactions of the board on Postgres.
//!
//! # Transactions
//!
//! A write is one transaction at the isolation level `READ COMMITTED`. A command does not lock the whole board. It
//! locks the rows that its rules depend on before it reads them ([`locks`](crate::board::locks)), and each later
//! statement sees all changes that were committed before the statement began. The conditions that such a command checks
//! therefore hold until its commit. Other commands may commit at any time, in any order.
//!
//! # Reads
//!
//! A read of one statement runs outside of a transaction, and a second statement on its connection fails. A read of
//! several statements is one read-only transaction at the isolation level `REPEATABLE READ`, so that all statements see
//! the same data. `BEGIN` is sent together with the first statement, and the read does not wait for the end of the
//! transaction: it takes no additional round trip.
//!
//! # Order of locks
//!
//! Every transaction takes its locks in this order, and rows of one table by ascending id:
//!
//! 1. threads. The lock covers the posts, the poll, the votes and the counters of the thread, and the numbers and the
//!    order of its posts.
//! 2. members. The lock covers the ban, the groups, the flood limits, the inbox and the counters of the member. A
//!    command locks its own member and all others whose rows it changes.
//! 3. forums. The lock covers the counters of the forum and the time of its newest post. Many commands change the same
//!    forum. Each of them therefore locks the forum last, and holds the lock for one round trip at most.
//!
//! Two transactions that keep this order do not wait for each other in a cycle. Three rare commands do not keep it:
//! hiding or showing a thread locks the authors of its replies after the member of the command, starting a thread locks
//! a forum before the events, and `generate` locks whole tables. Postgres ends one transaction of a cycle after
//! `deadlock_timeout` (one second), and [`PostgresDatabase::write`] runs it again, up to [`ATTEMPTS`] times in total. A
//! command therefore has no effect outside of its transaction, and its inputs are cloned for each attempt. A failed
//! commit is not repeated, because its outcome is unknown.
//!
//! # Order of writes
//!
//! - In one thread, posts commit in the order of their numbers, their times and their ids, because the lock of the
//!   thread is held until the commit. A reader that has seen a post has seen all earlier ones.
//! - In one forum, threads and replies commit in the order of their times, because no time is earlier than
//!   `forum.newest_at`. A command reads this column without a lock, and locks the forum in its last round trip. If a
//!   later post was committed in between, the transaction fails and runs again. The second attempt locks the forum
//!   before it reads the column. A client that polls with `since` therefore misses nothing, even if a clock is set back
//!   or the clocks of nodes differ.
//! - In different threads, posts get their ids when their writes begin, and can commit in another order: a post can
//!   become visible after a post with a higher id. Lists by time or id use keyset pages. Each item that exists
//!   during the whole listing is returned once. An item that commits while a client reads may be before or after the
//!   client's position.
//! - Events are numbered when they are written. The outbox finds pending events by their state, so an event that commits
//!   late is fanned out late and not missed.
//!
//! # Round trips
//!
//! A transaction sends its statements in the order in which their futures are first polled, and does not wait for the
//! results of earlier ones. `BEGIN` is sent together with the first statements: a command starts the statements that
//! lock its rows and those that read them at the same time. Statements whose results are not needed are deferred
//! ([`Transaction::defer`]) and sent together with `COMMIT`, which has no effect if one of them has failed.
//!
//! # Connections
//!
//! A write that waits for a lock holds a connection. At most half of the pool's connections write at a time; further
//! writes of this process wait without a connection, for at most five seconds, and reads use the other half. Searches
//! can take long. At most a quarter of the pool's connections search at a time; further searches of this process wait
//! without a connection until the timeout of their request, and short reads use the rest.
//! [`replicas`](super::replicas) describes the connections to replicas.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use deadpool_postgres::{Client, Pool, StatementCache};
use forum_api::host::{self, BackendError, OverloadedError};
use forum_api::store::postgres::{self, PostgresError};
use futures_util::TryStreamExt as _;
use tokio::sync::{self, MutexGuard, Semaphore};
use tokio::time::timeout;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Statement};

use super::named_params::{NamedParams, named_params};
use super::replicas::Replicas;
use super::{Bound, Change, Connection, DbError, DbResult, OwnedBound, Param, Query, Transaction};

/// Maximum number of attempts of a transaction that ends with a deadlock or a serialization failure. The failure of the
/// last attempt is returned.
const ATTEMPTS: u32 = 5;

/// Failures after which a transaction can succeed when it runs again.
const CONFLICTS: [SqlState; 2] = [
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::T_R_SERIALIZATION_FAILURE,
];

/// Time that a write waits for a connection. Afterwards it fails without an effect, and the client may retry it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time after which a client may retry a write that found no connection.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Sets the limits of a transaction. Behind a pooler in transaction mode, the session can lack the limits of the
/// connection.
macro_rules! limits {
    () => {
        "SET LOCAL statement_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = '20s'"
    };
}

/// Begins the transaction of a command, with query plans that do not depend on parameter values. Commands find rows by
/// keys. Planning a statement again for the values of each execution can take longer than the execution.
const BEGIN: &str = concat!(
    "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; ",
    limits!()
);

/// Begins a read of several statements.
const BEGIN_READ: &str = concat!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ",
    limits!()
);

/// Removes the statement timeout, because a migration may take longer than any other statement. A separate lock
/// serializes the migrations of all nodes; writes do not wait for this lock.
pub const WITHOUT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0";

/// Lets a commit return before the changes are on disk. A crash of the server may lose them.
pub const COMMIT_WITHOUT_SYNC: &str = concat!("SET LOCAL synchronous_commit = off; ", limits!());

/// Connections to Postgres, which any number of nodes may share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    pub pool: Pool,
    pub replicas: Replicas,
    writes: Arc<Semaphore>,
    searches: Arc<Semaphore>,
}

/// Number of statements of a query.
#[derive(Clone, Copy, Debug)]
pub enum Statements {
    /// The statement runs outside of a transaction.
    One,
    /// All statements see the same data.
    Several,
}

impl Statements {
    /// Runs a query on a connection.
    pub async fn run<T>(self, client: &Client, query: impl Query<T>) -> host::BoardResult<T> {
        match self {
            Self::One => {
                let connection = Connection::postgres(Postgres::Connection(client));
                query(&connection.for_one_statement()).await
            }
            Self::Several => {
                let statements = client.statement_cache.clone();
                let failure = Failure::new();
                let tx = PostgresTransaction::of(client, statements, &failure, None);
                let connection = Connection::postgres(Postgres::Transaction(&tx));
                let begin = async { Ok(tx.execute_batch(BEGIN_READ).await?) };
                let ((), read) = tokio::try_join!(biased; begin, query(&connection))?;
                Ok(read)
            }
        }
    }
}

impl PostgresDatabase {
    pub fn new(pool: Pool) -> Self {
        Self {
            writes: Arc::new(share(&pool, 2)),
            searches: Arc::new(share(&pool, 4)),
            replicas: Replicas::default(),
            pool,
        }
    }

    /// Runs a query.
    pub(super) async fn read<T>(
        &self,
        statements: Statements,
        query: impl Query<T>,
    ) -> host::BoardResult<T> {
        let client = self.pool.get().await.map_err(DbError::from)?;
        statements.run(&client, query).await
    }

    /// Runs a query of several statements, after waiting for one of the connections for searches.
    pub(super) async fn search<T>(&self, query: impl Query<T>) -> host::BoardResult<T> {
        let closed = |_| DbError::Invalid("searches are closed");
        let _permit = self.searches.acquire().await.map_err(closed)?;
        self.read(Statements::Several, query).await
    }

    /// Runs `change` in one transaction, and again if Postgres ends it because of a deadlock or a serialization failure.
    pub(super) async fn write<T>(&self, change: impl Change<T> + Clone) -> host::BoardResult<T> {
        let mut attempt = 1;
        loop {
            let failure = Failure::new();
            let written = self.write_once(change.clone(), &failure, attempt > 1).await;
            let has_conflict = failure.get().is_some_and(|code| CONFLICTS.contains(code));
            if written.is_ok() || !has_conflict || attempt == ATTEMPTS {
                return written;
            }
            tracing::debug!(attempt, "transaction ended by a conflict; running it again");
            attempt += 1;
        }
    }

    async fn write_once<T>(
        &self,
        change: impl Change<T>,
        failure: &Failure,
        is_repeated: bool,
    ) -> host::BoardResult<T> {
        let overloaded = |_| BackendError::new(OverloadedError::new(RETRY_AFTER));
        let permit = timeout(WAIT_TIMEOUT, self.writes.acquire()).await;
        let closed = |_| DbError::Invalid("writes are closed");
        let _permit = permit.map_err(overloaded)?.map_err(closed)?;
        self.transaction(change, failure, is_repeated).await
    }

    async fn transaction<T>(
        &self,
        change: impl Change<T>,
        failure: &Failure,
        is_repeated: bool,
    ) -> host::BoardResult<T> {
        let client = self.pool.get().await.map_err(DbError::from)?;
        let statements = client.statement_cache.clone();
        let run = async {
            let mut tx = PostgresTransaction::of(&client, statements, failure, None);
            tx.is_repeated = is_repeated;
            let connection = Connection::postgres(Postgres::Transaction(&tx));
            let tx = &tx;
            let transaction = &Transaction::of(connection);
            let begin = async { Ok(tx.execute_batch(BEGIN).await?) };
            let ((), done) = tokio::try_join!(biased; begin, change(transaction))?;
            tx.commit().await?;
            Ok(done)
        };
        let done = run.await;
        release(client, failure);
        done
    }

    /// Runs `begin`, then `change`, in one transaction.
    pub(super) async fn write_after<T>(
        &self,
        begin: &str,
        change: impl Change<T>,
    ) -> host::BoardResult<T> {
        let mut client = self.pool.get().await.map_err(DbError::from)?;
        let failure = Failure::new();
        let run = async {
            let tx = client.transaction().await.map_err(DbError::from)?;
            let statements = tx.statement_cache.clone();
            let transaction = PostgresTransaction::of(tx.client(), statements, &failure, Some(&tx));
            transaction.execute_batch(begin).await?;
            let connection = Connection::postgres(Postgres::Transaction(&transaction));
            let done = change(&Transaction::of(connection)).await?;
            transaction.flush().await?;
            drop(transaction);
            tx.commit().await.map_err(DbError::from)?;
            Ok(done)
        };
        let done = run.await;
        release(client, &failure);
        done
    }
}

/// Limits the concurrent use of a pool to a part of its connections.
pub(super) fn share(pool: &Pool, part: usize) -> Semaphore {
    Semaphore::new((pool.status().max_size / part).max(1))
}

/// Returns the connection of a transaction to the pool, or closes it if its server is lost.
fn release(client: Client, failure: &Failure) {
    if let Some(code) = failure.get() {
        postgres::close_if_lost(client, code);
    }
}

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
    is_repeated: bool,
    /// The transaction that [`PostgresDatabase::write_after`] begins and ends; `None` for commands.
    inner: Option<&'a tokio_postgres::Transaction<'a>>,
}

/// The code of the statement that ended a transaction; empty if none did.
type Failure = OnceLock<SqlState>;

/// A statement and its values, in the order of their numbers.
type Deferred = (String, Vec<Box<dyn ToSql + Send + Sync>>);

impl fmt::Debug for PostgresTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresTransaction")
    }
}

impl<'a> PostgresTransaction<'a> {
    fn of(
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

    async fn execute_batch(&self, sql: &str) -> DbResult<()> {
        self.flush().await?;
        let turn = self.turn.lock().await;
        self.receive(send(self.client.batch_execute(sql), turn))
            .await
    }

    fn defer(&self, sql: String, values: Vec<Box<dyn ToSql + Send + Sync>>) {
        self.deferred().push((sql, values));
    }

    /// Runs the deferred statements.
    async fn flush(&self) -> DbResult<()> {
        for sent in self.send_deferred().await? {
            self.check(sent.result().await)?;
        }
        Ok(())
    }

    /// Sends the deferred statements and `COMMIT`, and then waits for the results.
    async fn commit(&self) -> DbResult<()> {
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
        let checked = async { self.check(result.await) };
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
                let run = async {
                    let statement = client.prepare_cached(sql).await.map_err(no_effect)?;
                    let rows = client.query_raw(&statement, values).await;
                    let mut rows = pin!(rows.map_err(no_effect)?);
                    while let Some(row) = rows.try_next().await.map_err(no_effect)?
                        && read(&row)?.is_continue()
                    {}
                    DbResult::Ok(())
                };
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

pub(super) const MISMATCH: DbError = DbError::Invalid("the parameters do not match the statement");

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
