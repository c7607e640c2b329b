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
//! 3. forums. The lock covers the counters of the forum and the time of its newest post. Many commands change the same
//!    forum. Each of them therefore locks the forum with one of its last two statements before the events.
//!
//! Two transactions that keep this order do not wait for each other in a cycle. Two rare commands do not keep it:
//! starting a thread locks a forum before the events, and `generate` locks whole tables. Postgres ends one transaction of a cycle after
//! `deadlock_timeout` (one second), and [`PostgresDatabase::repeat`] runs it again, up to [`ATTEMPTS`] times in total. A
//! command therefore has no effect outside of its transaction, and its inputs are cloned for each attempt. A failed
//! commit is not repeated, because its outcome is unknown.
//!
//! # Order of writes
//!
//! - In one thread, posts commit in the order of their numbers, their times and their ids, because the lock of the
//!   thread is held until the commit. A reader that has seen a post has seen all earlier ones.
//! - In one forum, threads and replies commit in the order of their times, because no time is earlier than
//!   `forum.newest_at`. A command reads this column without a lock, and locks the forum with its last change. If a
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
//! # Connections
//!
//! A write that waits for a lock holds a connection. At most half of the pool's connections write at a time; further
//! writes of this process wait without a connection, for at most five seconds, and reads use the other half. Searches
//! can take long. At most a quarter of the pool's connections search at a time; further searches of this process wait
//! without a connection until the time limit of a search, and other reads use the rest.
//! [`replicas`](super::replicas) describes the connections to replicas.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use forum_api::host::{BackendError, BoardResult, OverloadedError};
use forum_api::store::postgres;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tokio_postgres::error::SqlState;

use super::postgres_read::{ReadKind, limits, share, until};
use super::postgres_transaction::{Failure, Postgres, PostgresTransaction, TransactionKind};
use super::replicas::Replicas;
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

/// Time that a write waits for a connection. Afterwards it fails without an effect, and the client may retry it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time after which a client may retry a write that found no connection.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The transaction of a command. Its query plans do not depend on parameter values: commands find rows by keys, and planning
/// a statement again for the values of each execution can take longer than the execution.
const COMMAND: TransactionKind = TransactionKind {
    begin: concat!("BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; ", limits!()),
    has_limit: true,
    is_repeated: false,
};

/// A transaction without timeouts, for migrations and for changes of many rows. A separate lock serializes the migrations of
/// all nodes; writes do not wait for this lock.
pub const WITHOUT_TIMEOUT: TransactionKind = TransactionKind {
    begin: "BEGIN; SET LOCAL statement_timeout = 0",
    has_limit: false,
    is_repeated: false,
};

/// A transaction whose commit returns before the changes are on disk. A crash of the server may lose them.
pub const BACKGROUND: TransactionKind = TransactionKind {
    begin: concat!("BEGIN; SET LOCAL synchronous_commit = off; ", limits!()),
    ..COMMAND
};

/// Connections to Postgres, which any number of nodes may share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    pub pool: Pool,
    pub replicas: Replicas,
    writes: Arc<Semaphore>,
    searches: Arc<Semaphore>,
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

    /// Runs a query. A search waits for one of the connections for searches, and ends at its deadline.
    pub(super) async fn read<T>(
        &self,
        kind: ReadKind,
        deadline: Option<Instant>,
        query: impl Query<T>,
    ) -> BoardResult<T> {
        let closed = |_| BackendError::new("searches are closed");
        let acquire = async {
            let permit = match kind {
                ReadKind::Search => Some(self.searches.acquire().await.map_err(closed)?),
                _ => None,
            };
            Ok((permit, self.pool.get().await?))
        };
        let (_permit, client) = until(deadline, acquire).await?;
        let read = until(deadline, kind.run(&client, query)).await;
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            // The connection can be busy with a statement of the search.
            drop(Client::take(client));
        }
        read
    }

    /// Runs `change` in a transaction of a command.
    pub(super) async fn write<T>(&self, change: impl Change<T> + Clone) -> BoardResult<T> {
        let _permit = timeout(WAIT_TIMEOUT, self.writes.acquire())
            .await
            .map_err(|_| BackendError::new(OverloadedError::new(RETRY_AFTER)))?
            .map_err(|_| BackendError::new("writes are closed"))?;
        self.repeat(COMMAND, change).await
    }

    /// Runs `change` in one transaction, and again if one of the [`CONFLICTS`] ends it.
    pub(super) async fn repeat<T>(
        &self,
        kind: TransactionKind,
        change: impl Change<T> + Clone,
    ) -> BoardResult<T> {
        let mut attempt = 1;
        loop {
            let failure = Failure::new();
            let kind = TransactionKind { is_repeated: attempt > 1, ..kind };
            let written = self.transaction(kind, change.clone(), &failure).await;
            let has_conflict = failure.get().is_some_and(|code| CONFLICTS.contains(code));
            if written.is_ok() || !has_conflict || attempt == ATTEMPTS {
                return written;
            }
            tracing::debug!(attempt, "transaction ended by a conflict; running it again");
            attempt += 1;
        }
    }

    /// Runs `change` in one transaction of this kind.
    pub(super) async fn transaction<T>(
        &self,
        kind: TransactionKind,
        change: impl Change<T>,
        failure: &Failure,
    ) -> BoardResult<T> {
        let client = self.pool.get().await?;
        let run = async {
            let tx = PostgresTransaction::begin(&client, kind, failure).await?;
            let connection = Connection::postgres(Postgres::Transaction(&tx));
            let done = change(&Transaction::of(connection)).await?;
            tx.commit().await?;
            Ok(done)
        };
        let done = run.await;
        release(client, failure);
        done
    }
}

/// Returns the connection of a transaction to the pool, or closes it if its server is lost.
fn release(client: Client, failure: &Failure) {
    if let Some(code) = failure.get() {
        postgres::close_if_lost(client, code);
    }
}
