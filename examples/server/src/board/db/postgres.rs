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
//! the same data. The read does not wait for the end of the transaction.
//!
//! # Order of locks
//!
//! Every transaction takes its locks in this order, and rows of one table by ascending id:
//!
//! 1. threads. The lock covers the posts, the poll, the votes and the counters of the thread, and the numbers and the
//!    order of its posts.
//! 2. members. The lock covers the ban, the groups, the flood limits, the inbox and the counters of the member. A
//!    command locks its own member and all others whose rows it changes.
//!
//! No lock is shared by commands in different threads, except that of a member whom both change. In particular no command
//! locks a forum: the counts of a forum are the sum of several rows, and a command counts in one that no other has locked
//! ([`forum_count`](crate::board::forum_count)). Of the alternatives, a row for each change needs a background step that
//! sums the rows, and every list of forums reads those not summed yet. One row that the last statement before the commit
//! changes is locked while the commit waits for the disk, or for a standby, so that commits of a forum wait for each
//! other.
//!
//! Two transactions that keep this order do not wait for each other in a cycle. Only `generate` does not keep it, because
//! it locks whole tables. Postgres ends one transaction of a cycle after `deadlock_timeout` (one second), and
//! [`PostgresDatabase::repeat`] runs it again, up to [`ATTEMPTS`] times in total. A command therefore has no effect outside
//! of its transaction, and its inputs are cloned for each attempt. A failed commit is not repeated, because its outcome is
//! unknown.
//!
//! # Round trips
//!
//! A node can be far from Postgres, stop or be lost while it holds a lock. Its first flight begins the transaction, takes
//! the locks and reads the caller; its last one writes the events and commits. A reply needs only these two flights: the
//! first also reads all that the reply depends on, and the last also writes it ([`LastChange`](super::LastChange)). Its
//! locks are therefore held for one round trip. The first reply of a process, and the first with a statement that no
//! earlier one ran, takes two: it prepares the statement while it holds the locks. Later, a new connection prepares the
//! known statements before the transaction ([`KnownStatements`]). Postgres ends a transaction that waits longer than
//! 1.5 s for its next statement. Only one write of each process at a time waits for the lock of a thread
//! ([`ThreadTurns`]), so that a stopped process delays others by one transaction.
//!
//! # Order of writes
//!
//! - In one thread, posts commit in the order of their numbers, their times and their ids, because the lock of the
//!   thread is held until the commit. A reader that has seen a post has seen all earlier ones.
//! - In one forum, a thread or reply has at least the time of all that were committed before the command read
//!   `forum_count.newest_at`, also if a clock is set back or the clocks of nodes differ. Commands that run at the same
//!   time can commit in another order than that of their times. The list of a forum's threads therefore needs an overlap
//!   for `since` ([`SINCE_OVERLAP`]), so that a client that polls misses nothing.
//! - In different threads, posts get their ids when their writes begin, and can commit in another order: a post can
//!   become visible after a post with a higher id. Lists by time or id use keyset pages. Each item that exists
//!   during the whole listing is returned once. An item that commits while a client reads may be before or after the
//!   client's position.
//! - Events are numbered when they are written. The outbox finds pending events by their state, so an event that commits
//!   late is fanned out late and not missed.
//!
//! # Connections
//!
//! A write that waits for a lock holds a connection. At most half of the pool's connections write at a time; further
//! writes of this process wait without a connection, and reads use the other half. A write that has waited for 10 s, for
//! a connection and for locks, fails without an effect. Searches
//! can take long. At most a quarter of the pool's connections search at a time; further searches of this process wait
//! without a connection until the time limit of a search, and other reads use the rest. Postgres does not notice that a
//! read is dropped, for example at its time limit or because its client has disconnected. The connection of such a
//! read, and the permit of a search, stay in use until the statement of the read has ended ([`ReadConnection`]).
//! [`replicas`](super::replicas) describes the connections to replicas.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use forum_api::host::{BackendError, BoardResult, OverloadedError};
use forum_api::store::postgres::tokio_postgres_0_7;
use forum_api::store::{Stores, WebhookStores};
use futures_util::future::join;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::error::SqlState;

use super::connection::RepeatableChange;
use super::known_statements::KnownStatements;
use super::postgres_read::{ReadConnection, ReadKind, share, until};
use super::postgres_transaction::{
    Failure, Postgres, PostgresTransaction, RETRY_AFTER, Timeouts, TransactionKind,
};
use super::replicas::Replicas;
use super::thread_turns::ThreadTurns;
use super::writer::Writer;
use super::{Change, Connection, Query, Transaction};

/// Maximum number of attempts of a transaction that ends with a deadlock or a serialization failure. The failure of the
/// last attempt is returned.
const ATTEMPTS: u32 = 5;

/// Failures after which a transaction can succeed when it runs again. `FEATURE_NOT_SUPPORTED`: a statement was prepared
/// before the type of a column changed.
const CONFLICTS: [SqlState; 3] = [
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::FEATURE_NOT_SUPPORTED,
];

/// Pause before a change with a `lock_timeout` of its own tries to get a lock again. Other writes run meanwhile.
const LOCK_PAUSE: Duration = Duration::from_secs(3);

/// Time that a write waits for its turn: for a connection, and for the locks of its rows. Afterwards it fails without an
/// effect, and the client may retry it.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time from the beginning of a transaction that writes a post to its commit. The time of the post is read in
/// between, so it is at most this much earlier than the commit.
const MAX_DURATION: Duration = Duration::from_secs(15);

/// Overlap of `since` for the threads of a forum: [`MAX_DURATION`], and 15 s for the difference between the clocks of two
/// nodes of which neither has seen the other's last write.
pub const SINCE_OVERLAP: Duration = Duration::from_secs(30);

/// The transaction of a member's command. Its query plans do not depend on parameter values: commands find rows by keys,
/// and planning a statement again for the values of each execution can take longer than the execution.
const COMMAND: TransactionKind = TransactionKind {
    begin: "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan",
    timeouts: Some(Timeouts { statement: "10s", idle_in_transaction: "1500ms" }),
    has_limit: true,
    max_duration: Some(MAX_DURATION),
};

/// The transaction of an operator, which can run many statements.
const OPERATION: TransactionKind = TransactionKind { max_duration: None, ..COMMAND };

/// A transaction without timeouts, for migrations and for changes of many rows. A separate lock serializes the migrations of
/// all nodes; writes do not wait for this lock.
pub const WITHOUT_TIMEOUT: TransactionKind = TransactionKind {
    begin: "BEGIN; SET LOCAL statement_timeout = 0",
    timeouts: None,
    has_limit: false,
    max_duration: None,
};

/// A transaction whose commit returns before the changes are on disk. A crash of the server may lose them.
pub const BACKGROUND: TransactionKind =
    TransactionKind { begin: "BEGIN; SET LOCAL synchronous_commit = off", ..OPERATION };

/// Connections to Postgres, which any number of nodes may share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    pub pool: Pool,
    pub replicas: Replicas,
    turns: Arc<ThreadTurns>,
    statements: Arc<KnownStatements>,
    writes: Arc<Semaphore>,
    searches: Arc<Semaphore>,
    /// The library's stores. They limit the connections of the pool that change rows.
    pub stores: Arc<Stores>,
    pub webhooks: Arc<WebhookStores>,
}

impl PostgresDatabase {
    pub fn new(pool: Pool) -> Self {
        Self {
            turns: Arc::default(),
            statements: Arc::default(),
            writes: share(&pool, 2),
            searches: share(&pool, 4),
            stores: Arc::new(Stores::in_postgres(&pool)),
            webhooks: Arc::new(WebhookStores::in_postgres(&pool)),
            replicas: Replicas::default(),
            pool,
        }
    }

    /// Runs a query. A search waits for one of the connections for searches, and ends at its deadline.
    pub(super) async fn read<T>(
        &self,
        kind: ReadKind,
        deadline: Option<Instant>,
        query: Box<dyn Query<T>>,
    ) -> BoardResult<T> {
        let closed = |_| BackendError::new("searches are closed");
        let acquire = async {
            let permit = match kind {
                ReadKind::Search => {
                    Some(Arc::clone(&self.searches).acquire_owned().await.map_err(closed)?)
                }
                _ => None,
            };
            Ok(ReadConnection::new(self.pool.get().await?, permit))
        };
        let mut connection = until(deadline, acquire).await?;
        until(deadline, connection.run(kind, query)).await
    }

    /// Runs `change` in a transaction of a command.
    pub(super) async fn write<T>(&self, by: Writer, change: RepeatableChange<T>) -> BoardResult<T> {
        let turn_ends = Instant::now() + TURN_TIMEOUT;
        let (kind, thread) = match by {
            Writer::Member { thread } => (COMMAND, thread),
            Writer::Operator => (OPERATION, None),
        };
        let turn = thread.map(|thread| self.turns.of(thread));
        let _turn = match &turn {
            Some(turn) => Some(timeout_at(turn_ends, turn.lock()).await.map_err(|_| overloaded())?),
            None => None,
        };
        let _permit = timeout_at(turn_ends, self.writes.acquire())
            .await
            .map_err(|_| overloaded())?
            .map_err(|_| BackendError::new("writes are closed"))?;
        self.repeat(kind, Some(turn_ends), change).await
    }

    /// Runs `change` in one transaction, and again if one of the [`CONFLICTS`] ends it. `turn_ends` limits the wait for
    /// each lock, and the time of the last attempt's beginning. A change that does not get a lock within a `lock_timeout`
    /// of its own runs again after [`LOCK_PAUSE`], with `None` until it gets the lock.
    pub(super) async fn repeat<T>(
        &self,
        kind: TransactionKind,
        turn_ends: Option<Instant>,
        mut change: RepeatableChange<T>,
    ) -> BoardResult<T> {
        let mut attempt = 1;
        loop {
            let settings = match turn_ends.map(|end| end.saturating_duration_since(Instant::now()))
            {
                Some(Duration::ZERO) => return Err(overloaded().into()),
                // A limit of 0 would be none.
                Some(rest) => format!("; SET LOCAL lock_timeout = {}", rest.as_millis().max(1)),
                None => String::new(),
            };
            let failure = Failure::new();
            let copy = change.copy();
            let written = self.transaction(kind, &settings, change.kind, copy, &failure).await;
            let has_conflict = failure.get().is_some_and(|code| CONFLICTS.contains(code));
            let is_in_time = turn_ends.is_none_or(|end| Instant::now() + LOCK_PAUSE < end);
            if is_in_time && failure.get() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
                tracing::debug!("another process holds a lock; running the transaction again");
                sleep(LOCK_PAUSE).await;
                continue;
            }
            if written.is_ok() || !has_conflict || attempt == ATTEMPTS {
                return written;
            }
            tracing::debug!(attempt, "transaction ended by a conflict; running it again");
            attempt += 1;
        }
    }

    /// Runs `change` in one transaction of this kind, with further `settings`. A new connection first prepares the
    /// [`KnownStatements`] of `change_kind`. The statements that begin the transaction and the first ones of the change are
    /// sent together.
    pub(super) async fn transaction<T>(
        &self,
        kind: TransactionKind,
        settings: &str,
        change_kind: &'static str,
        change: Box<dyn Change<T>>,
        failure: &Failure,
    ) -> BoardResult<T> {
        let client = self.pool.get().await?;
        // Without a time limit, statements may wait for a migration, also while they are prepared.
        let known = kind.timeouts.map(|_| self.statements.of(change_kind));
        let run = async {
            let tx = PostgresTransaction::new(&client, kind, failure, known.as_deref());
            tx.prepare().await?;
            let connection = Connection::postgres(Postgres::Transaction(&tx));
            let change_and_commit = async {
                let done = change(&Transaction::of(connection)).await?;
                tx.commit().await?;
                Ok(done)
            };
            let (begun, done) = join(tx.begin(settings), change_and_commit).await;
            begun?;
            if done.is_ok() {
                self.statements.add(change_kind, tx.take_added());
            }
            done
        };
        let done = run.await;
        release(client, failure);
        done
    }
}

/// Returns the error of a write whose turn did not come.
fn overloaded() -> BackendError {
    BackendError::new(OverloadedError::new(RETRY_AFTER))
}

/// Returns the connection of a transaction to the pool, or closes it if its server is lost.
fn release(client: Client, failure: &Failure) {
    if let Some(code) = failure.get() {
        tokio_postgres_0_7::close_if_lost(client, code);
    }
}
