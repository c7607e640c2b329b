//! Statements and transactions of the board on Postgres.
//!
//! # Transactions
//!
//! A write is one transaction at the isolation level `READ COMMITTED`. No lock covers the whole board: a command locks
//! the rows that its rules depend on before it reads them ([`locks`](crate::board::locks)), and each later statement
//! sees what was committed until then. What such a command checks therefore holds until its commit. Other commands may
//! commit at any time, in any order.
//!
//! # Order of locks
//!
//! Every transaction takes its locks in this order, and rows of one table by ascending id:
//!
//! 1. threads. The lock covers the posts, the poll, the votes and the counters of the thread, and the numbers and the
//!    order of its posts.
//! 2. members. The lock covers the ban, the groups, the flood limits, the inbox and the counters of the member. A
//!    command locks its own member and all others whose rows it changes.
//! 3. forums, whose rows hold counters only. Many commands change the same one, so it is locked last, after the events
//!    are written, and held for one statement and the commit.
//!
//! Two transactions that keep this order do not wait for each other in a cycle. Three rare ones do not: hiding or showing
//! a thread locks the authors of its replies after its own member, starting a thread locks a forum before the events, and
//! `generate` locks whole tables. Postgres ends one transaction of a cycle after `deadlock_timeout` (one second), and
//! [`PostgresDatabase::write`] runs it again, up to [`ATTEMPTS`] times. A command therefore has no effect outside of its
//! transaction, and its inputs are cloned for each attempt. A failed commit is not repeated, because its outcome is
//! unknown.
//!
//! # Order of writes
//!
//! - In one thread, posts commit in the order of their numbers, of `ordered_at` and of their ids, because the lock of the
//!   thread is held until the commit. A reader that has seen a post has seen all earlier ones.
//! - Over several threads, ids and times follow the beginning of a write, and commits do not: a post can become visible
//!   after one with a higher id. Lists by time or id are keyset pages; they return each item that existed during the whole
//!   time once. An item that commits while a client reads may be before or after the client's position.
//! - Events are numbered when they are written. The outbox finds pending events by their state, so an event that commits
//!   late is fanned out late and not missed.
//!
//! # Connections
//!
//! A write that waits for a lock holds a connection. At most half of the pool's connections write at a time; further
//! writes of this process wait without a connection, for at most five seconds, and reads use the other half.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{Client, GenericClient, Pool};
use forum_api::host::{self, BackendError, OverloadedError};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use super::named_params::{NamedParams, named_params};
use super::{Bound, Change, Connection, DbError, DbResult, Param, Query, Transaction};

/// Number of times that a transaction is begun before its deadlock or serialization failure is returned.
const ATTEMPTS: u32 = 5;

/// Time that a write waits for a connection. Afterwards it fails without an effect, and the client may retry it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time after which a client may retry a write that found no connection.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Commands find rows by keys, and Postgres would plan their statements for the values of each execution, which can take
/// longer than the execution.
const GENERIC_PLANS: &str = "SET LOCAL plan_cache_mode = force_generic_plan";

/// A migration may take longer than any other statement. Its own lock serializes those of all nodes; writes do not wait for
/// it.
pub const WITHOUT_TIMEOUT: &str = "SET LOCAL statement_timeout = 0";

/// A crash of the server may lose a hint, and no commit of one waits for the disk.
pub const COMMIT_WITHOUT_SYNC: &str = "SET LOCAL synchronous_commit = off";

/// Connections to Postgres, which any number of nodes may share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    pub pool: Pool,
    writes: Arc<Semaphore>,
}

impl PostgresDatabase {
    pub fn new(pool: Pool) -> Self {
        let half = (pool.status().max_size / 2).max(1);
        let writes = Arc::new(Semaphore::new(half));
        Self { pool, writes }
    }

    /// Each statement sees the state of its own time.
    pub(super) async fn read<T>(&self, query: impl Query<T>) -> host::BoardResult<T> {
        let client = self.pool.get().await.map_err(DbError::from)?;
        query(&Connection::Postgres(Postgres::Connection(&client))).await
    }

    /// Runs `change` in one transaction, and again if Postgres ends it because of a deadlock or a serialization failure.
    pub(super) async fn write<T>(&self, change: impl Change<T> + Clone) -> host::BoardResult<T> {
        let mut attempt = 1;
        loop {
            let has_conflict = Arc::new(AtomicBool::new(false));
            let written = self.write_once(change.clone(), &has_conflict).await;
            let is_repeated =
                written.is_err() && has_conflict.load(Ordering::Relaxed) && attempt < ATTEMPTS;
            if !is_repeated {
                return written;
            }
            tracing::debug!(attempt, "transaction ended by a deadlock; running it again");
            attempt += 1;
        }
    }

    async fn write_once<T>(
        &self,
        change: impl Change<T>,
        has_conflict: &Arc<AtomicBool>,
    ) -> host::BoardResult<T> {
        let overloaded = |_| BackendError::new(OverloadedError::new(RETRY_AFTER));
        let permit = timeout(WAIT_TIMEOUT, self.writes.acquire()).await;
        let closed = |_| DbError::Invalid("writes are closed");
        let _permit = permit.map_err(overloaded)?.map_err(closed)?;
        self.transaction(GENERIC_PLANS, change, has_conflict).await
    }

    /// Runs `begin`, then `change`, in one transaction.
    pub(super) async fn write_after<T>(
        &self,
        begin: &str,
        change: impl Change<T>,
    ) -> host::BoardResult<T> {
        self.transaction(begin, change, &Arc::default()).await
    }

    async fn transaction<T>(
        &self,
        begin: &str,
        change: impl Change<T>,
        has_conflict: &Arc<AtomicBool>,
    ) -> host::BoardResult<T> {
        let mut client = self.pool.get().await.map_err(DbError::from)?;
        let tx = client.transaction().await.map_err(DbError::from)?;
        tx.batch_execute(begin).await.map_err(DbError::from)?;
        let transaction = PostgresTransaction {
            tx: &tx,
            has_conflict: has_conflict.clone(),
        };
        let connection = Connection::Postgres(Postgres::Transaction(transaction));
        let done = change(&Transaction::of(connection)).await?;
        tx.commit().await.map_err(DbError::from)?;
        Ok(done)
    }
}

/// A connection to Postgres, inside or outside of a transaction.
#[derive(Clone)]
pub enum Postgres<'a> {
    Connection(&'a Client),
    Transaction(PostgresTransaction<'a>),
}

/// A transaction.
#[derive(Clone)]
pub struct PostgresTransaction<'a> {
    tx: &'a deadpool_postgres::Transaction<'a>,
    /// Set when Postgres ends the transaction because of a deadlock or a serialization failure.
    has_conflict: Arc<AtomicBool>,
}

impl fmt::Debug for PostgresTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresTransaction")
    }
}

impl<'a> PostgresTransaction<'a> {
    pub fn inner(&self) -> &'a tokio_postgres::Transaction<'a> {
        self.tx
    }

    fn check<T>(&self, result: Result<T, tokio_postgres::Error>) -> DbResult<T> {
        let conflicts = [
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
        ];
        Ok(result.inspect_err(|error| {
            if error.code().is_some_and(|code| conflicts.contains(code)) {
                self.has_conflict.store(true, Ordering::Relaxed);
            }
        })?)
    }
}

impl Postgres<'_> {
    pub(super) async fn query(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
    ) -> DbResult<Vec<Row>> {
        let statement = named_params(sql);
        let values = values(&statement, parameters)?;
        match self {
            Self::Connection(client) => Ok(query(*client, &statement.sql, &values).await?),
            Self::Transaction(transaction) => {
                transaction.check(query(transaction.tx, &statement.sql, &values).await)
            }
        }
    }

    pub(super) async fn execute(
        &self,
        sql: &'static str,
        parameters: &[Bound<'_>],
    ) -> DbResult<u64> {
        let statement = named_params(sql);
        let values = values(&statement, parameters)?;
        self.change(&statement.sql, &values).await
    }

    pub(super) async fn execute_texts(&self, sql: &str, parameters: &[String]) -> DbResult<u64> {
        let values = parameters.iter().map(|text| text as &(dyn ToSql + Sync));
        self.change(sql, &values.collect::<Vec<_>>()).await
    }

    pub(super) async fn run(&self, sql: &str) -> DbResult<()> {
        let transaction = self.transaction()?;
        transaction.check(transaction.tx.batch_execute(sql).await)
    }

    pub(super) async fn copy_in<'b, const N: usize>(
        &self,
        copy: &str,
        types: &[Type; N],
        rows: impl Iterator<Item = [&'b (dyn Param + Sync); N]> + Send,
    ) -> DbResult<()> {
        let transaction = self.transaction()?;
        let sink = transaction.check(transaction.tx.copy_in(copy).await)?;
        let mut copy = pin!(BinaryCopyInWriter::new(sink, types));
        for row in rows {
            let row = row.map(|value| value as &(dyn ToSql + Sync));
            copy.as_mut().write(&row).await?;
        }
        copy.finish().await?;
        Ok(())
    }

    async fn change(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> DbResult<u64> {
        tracing::trace!(sql, "executing statement");
        let transaction = self.transaction()?;
        let execute = async {
            let statement = transaction.tx.prepare_cached(sql).await?;
            transaction.tx.execute(&statement, values).await
        };
        transaction.check(execute.await)
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

async fn query(
    client: &impl GenericClient,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, tokio_postgres::Error> {
    tracing::trace!(sql, "executing statement");
    let statement = client.prepare_cached(sql).await?;
    client.query(&statement, values).await
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
    let values: Option<Vec<_>> = statement.names.iter().map(value).collect();
    let values = values.filter(|values| values.len() == parameters.len());
    values.ok_or(DbError::Invalid(
        "the parameters do not match the statement",
    ))
}
