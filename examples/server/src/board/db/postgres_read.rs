//! Reads on a server of Postgres, the primary or a replica.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use forum_api::host::{BoardError, BoardResult, OverloadedError};
use forum_api::store::postgres::{PostgresError, limit_wait};
use futures_util::future::join;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::connection::{Connection, Query};
use super::postgres_transaction::{
    Failure, Postgres, PostgresTransaction, RETRY_AFTER, Timeouts, TransactionKind,
};

const SNAPSHOT: TransactionKind = TransactionKind {
    begin: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    timeouts: Some(Timeouts { statement: "10s", idle_in_transaction: "20s" }),
    has_limit: true,
    max_duration: None,
};

/// The snapshot of a search, whose statements have its time limit. A connection can still run one of them when a search is
/// canceled.
const SEARCH: TransactionKind = TransactionKind {
    timeouts: Some(Timeouts { statement: "2s", idle_in_transaction: "20s" }),
    ..SNAPSHOT
};

/// Time limit of a search, including the wait for a reader or a connection.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(2);

/// A search reached its time limit: the response is 503.
#[derive(Debug)]
pub(super) struct SearchTimeoutError(OverloadedError);

/// Kind of a read.
#[derive(Clone, Copy, Debug)]
pub enum ReadKind {
    /// One statement outside of a transaction. A second statement fails.
    One,
    /// One statement that looks up a key and takes well below a millisecond. On SQLite, it does not wait for slow reads.
    Short,
    /// Several statements, which see the same data.
    Snapshot,
    /// Several statements that can take long, within a time limit. They see the same data. Other reads do not wait for such
    /// reads.
    Search,
}

impl Default for SearchTimeoutError {
    fn default() -> Self {
        Self(OverloadedError::new(RETRY_AFTER))
    }
}

impl fmt::Display for SearchTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a search reached its time limit of {} s", SEARCH_TIMEOUT.as_secs())
    }
}

impl Error for SearchTimeoutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl From<SearchTimeoutError> for BoardError {
    fn from(error: SearchTimeoutError) -> Self {
        Self::internal(error)
    }
}

impl ReadKind {
    /// Returns the end of the time limit of a read that begins now.
    pub(super) fn deadline(self) -> Option<Instant> {
        matches!(self, Self::Search).then(|| Instant::now() + SEARCH_TIMEOUT)
    }

    /// Runs a query on a connection.
    async fn run<T>(self, client: &Client, query: Box<dyn Query<T>>) -> BoardResult<T> {
        match self {
            Self::One | Self::Short => {
                let connection = Connection::postgres(Postgres::Connection(client));
                query(&connection.for_one_statement()).await
            }
            Self::Snapshot | Self::Search => {
                let failure = Failure::new();
                let kind = if matches!(self, Self::Search) { SEARCH } else { SNAPSHOT };
                let tx = PostgresTransaction::new(client, kind, &failure, None);
                let connection = Connection::postgres(Postgres::Transaction(&tx));
                let (begun, found) = join(tx.begin(""), query(&connection)).await;
                begun?;
                found
            }
        }
    }
}

/// Connection of a read, and permit of a search. If the read is dropped before its end, Postgres still runs the
/// statements that were sent. The connection and the permit are released when these statements have ended, but at the
/// latest after 15 seconds.
#[derive(Debug)]
pub(super) struct ReadConnection {
    connection: Arc<(Client, Option<OwnedSemaphorePermit>)>,
    /// True while a read runs, and after a read was dropped.
    is_busy: bool,
}

impl ReadConnection {
    pub(super) fn new(client: Client, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self { connection: Arc::new((client, permit)), is_busy: false }
    }

    pub(super) fn client(&self) -> &Client {
        &self.connection.0
    }

    /// Runs a query.
    pub(super) async fn run<T>(
        &mut self,
        kind: ReadKind,
        query: Box<dyn Query<T>>,
    ) -> BoardResult<T> {
        self.is_busy = true;
        let read = kind.run(self.client(), query).await;
        self.is_busy = false;
        read
    }
}

impl Drop for ReadConnection {
    fn drop(&mut self) {
        if self.is_busy
            && let Ok(runtime) = Handle::try_current()
        {
            let connection = Arc::clone(&self.connection);
            runtime.spawn(async move {
                // The response follows those of the statements. The pool checks a connection that does not respond before
                // its next use.
                let response =
                    async { connection.0.check_connection().await.map_err(PostgresError::from) };
                drop(limit_wait(response).await);
            });
        }
    }
}

/// Ends a read with an error at its deadline, if it has one.
pub(super) async fn until<T>(
    deadline: Option<Instant>,
    read: impl Future<Output = BoardResult<T>>,
) -> BoardResult<T> {
    match deadline {
        Some(deadline) => {
            timeout_at(deadline, read).await.map_err(|_| SearchTimeoutError::default())?
        }
        None => read.await,
    }
}

/// Limits the concurrent use of a pool to a part of its connections.
pub(super) fn share(pool: &Pool, part: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new((pool.status().max_size / part).max(1)))
}
