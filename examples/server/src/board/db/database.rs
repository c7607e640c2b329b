//! Handle of a database.

use std::any::type_name;
use std::path::Path;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use deadpool_postgres::Pool;
use forum_api::host::{BackendError, BackendResult, BoardError, BoardResult};
use forum_api::store::postgres::tokio_postgres_0_7;
use forum_api::store::{SchemaStatus, Stores, WebhookStores, postgres, sqlite};
use rusqlite::OpenFlags;
use tokio::time::Instant;

use super::connection::RepeatableChange;
use super::postgres::{BACKGROUND, PostgresDatabase, SINCE_OVERLAP, WITHOUT_TIMEOUT};
use super::postgres_read::until;
use super::postgres_transaction::Failure;
use super::writer::Writer;
use super::{Change, Connection, LogPosition, Query, ReadKind, Transaction, TransactionFuture};

/// Free space in bytes below which a disk counts as full.
const MIN_FREE_SPACE: u64 = 4 * 1024 * 1024;

/// A database. Cheap to clone.
#[derive(Clone, Debug)]
pub enum BoardDatabase {
    Sqlite(sqlite::Database),
    Postgres(PostgresDatabase),
}

impl BoardDatabase {
    /// Runs a query.
    pub async fn read<T: Send + 'static>(
        &self,
        kind: ReadKind,
        query: impl Query<T> + 'static,
    ) -> BoardResult<T> {
        self.read_until(kind.deadline(), kind, Box::new(query)).await
    }

    /// Takes a boxed query, so that the compiler instantiates the reads once for each type of result.
    async fn read_until<T: Send + 'static>(
        &self,
        deadline: Option<Instant>,
        kind: ReadKind,
        query: Box<dyn Query<T>>,
    ) -> BoardResult<T> {
        let database = match self {
            Self::Sqlite(database) => database,
            Self::Postgres(database) => return database.read(kind, deadline, query).await,
        };
        let read = move |connection: &rusqlite::Connection| read_sqlite(connection, kind, query);
        match kind {
            ReadKind::Short => database.read_short(read).await,
            ReadKind::Search => until(deadline, database.read_long(read)).await,
            ReadKind::One | ReadKind::Snapshot => database.read(read).await,
        }
    }

    /// Runs a query on a replica that has replayed the log to this position, or else on the primary.
    pub async fn read_at<T: Send + 'static>(
        &self,
        position: Option<LogPosition>,
        kind: ReadKind,
        query: impl Query<T> + Clone + 'static,
    ) -> BoardResult<T> {
        let deadline = kind.deadline();
        // The future is large, and boards without replicas do not need it.
        if let (Self::Postgres(database), Some(position)) = (self, position)
            && let Some(read) = Box::pin(
                database.replicas.read(position, kind, deadline, || Box::new(query.clone())),
            )
            .await
        {
            return read;
        }
        self.read_until(deadline, kind, Box::new(query)).await
    }

    /// Runs `change` in one transaction. On SQLite, no other transaction writes at the same time. On Postgres, other
    /// transactions write at the same time, and `change` runs again if a deadlock ends its transaction.
    ///
    /// The writes of one process that name the same thread run one after another.
    pub async fn write<T: Send + 'static>(
        &self,
        by: Writer,
        change: impl Change<T> + Clone + 'static,
    ) -> BoardResult<T> {
        match self {
            Self::Sqlite(database) => write_sqlite(database, Box::new(change)).await,
            Self::Postgres(database) => database.write(by, RepeatableChange::new(change)).await,
        }
    }

    /// Runs `change` as [`write`](Self::write) does, without timeouts. On Postgres, a change that fails because of a
    /// `lock_timeout` of its own runs again after three seconds, until it gets its locks.
    pub async fn write_without_timeout<T: Send + 'static>(
        &self,
        change: impl Change<T> + Clone + 'static,
    ) -> BoardResult<T> {
        match self {
            Self::Sqlite(database) => write_sqlite(database, Box::new(change)).await,
            Self::Postgres(database) => {
                database.repeat(WITHOUT_TIMEOUT, None, RepeatableChange::new(change)).await
            }
        }
    }

    /// Runs `change` in one transaction of low priority. A crash can lose it. On Postgres, the transaction does not wait
    /// for the disk.
    pub async fn write_background<T: Send + 'static, C: Change<T> + 'static>(
        &self,
        change: C,
    ) -> BoardResult<T> {
        match self {
            Self::Sqlite(database) => {
                database.write_background(|tx| change_sqlite(tx, change)).await
            }
            Self::Postgres(database) => {
                let (kind, failure) = (type_name::<C>(), Failure::new());
                database.transaction(BACKGROUND, "", kind, Box::new(change), &failure).await
            }
        }
    }

    /// Returns the overlap that the filter `since` of lists of threads needs. On SQLite, threads become visible in the
    /// order of their times.
    pub const fn since_overlap(&self) -> Duration {
        match self {
            Self::Sqlite(_) => Duration::ZERO,
            Self::Postgres(_) => SINCE_OVERLAP,
        }
    }

    /// Returns whether replicas serve reads.
    pub fn has_replicas(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(database) => !database.replicas.is_empty(),
        }
    }

    /// Returns the library's stores: tokens and idempotency keys in this database, and budgets in the node's memory.
    pub fn stores(&self) -> Stores {
        match self {
            Self::Sqlite(database) => Stores::in_sqlite(database),
            Self::Postgres(database) => Stores::clone(&database.stores),
        }
    }

    /// Returns the library's stores of endpoints, events and deliveries.
    pub fn webhooks(&self) -> WebhookStores {
        match self {
            Self::Sqlite(database) => WebhookStores::in_sqlite(database),
            Self::Postgres(database) => WebhookStores::clone(&database.webhooks),
        }
    }

    /// Checks with a write that the database accepts writes. Also fails if less than 4 MiB are free on its disk,
    /// because a small write can then succeed although other writes fail.
    pub async fn check_writable(&self) -> BoardResult<()> {
        match self {
            Self::Sqlite(database) => {
                database.check_writable().await?;
                Ok(database.read(check_free_space).await?)
            }
            Self::Postgres(database) => {
                Ok(tokio_postgres_0_7::check_writable(&database.pool).await?)
            }
        }
    }

    /// Compares the library's tables with those that this program needs.
    pub async fn library_schema_status(&self) -> BoardResult<SchemaStatus> {
        match self {
            Self::Sqlite(database) => Ok(database.schema_status().await?),
            Self::Postgres(database) => Ok(postgres::schema_status(&database.pool).await?),
        }
    }

    /// Applies the pending migrations to the library's tables.
    pub async fn migrate_library(&self) -> BoardResult<()> {
        if self.library_schema_status().await? == SchemaStatus::UpToDate {
            return Ok(());
        }
        match self {
            Self::Sqlite(database) => Ok(database.migrate().await?),
            Self::Postgres(database) => Ok(tokio_postgres_0_7::migrate(&database.pool).await?),
        }
    }

    /// Returns the maximum number of connections, and the numbers of those in use and of idle ones. On SQLite, these are
    /// the threads that read.
    pub fn connections(&self) -> [usize; 3] {
        match self {
            Self::Sqlite(database) => {
                let [all, idle] = database.readers();
                [all, all.saturating_sub(idle), idle]
            }
            Self::Postgres(database) => {
                let status = database.pool.status();
                let in_use = status.size.saturating_sub(status.available);
                [status.max_size, in_use, status.available]
            }
        }
    }

    /// Closes the database. On SQLite, completes queued writes first.
    pub async fn close(self) {
        match self {
            Self::Sqlite(database) => database.close().await,
            Self::Postgres(database) => database.pool.close(),
        }
    }
}

fn read_sqlite<T>(
    connection: &rusqlite::Connection,
    kind: ReadKind,
    query: impl Query<T>,
) -> BoardResult<T> {
    let mut connection = Connection::sqlite(connection);
    if matches!(kind, ReadKind::One | ReadKind::Short) {
        connection = connection.for_one_statement();
    }
    block_on_ready(query(&connection))
}

async fn write_sqlite<T: Send + 'static>(
    database: &sqlite::Database,
    change: Box<dyn Change<T>>,
) -> BoardResult<T> {
    database.write(|tx| change_sqlite(tx, change)).await
}

fn change_sqlite<T>(tx: &rusqlite::Connection, change: impl Change<T>) -> BoardResult<T> {
    block_on_ready(change(&Transaction::of(Connection::sqlite(tx))))
}

/// Returns the result of a future that uses only SQLite and therefore never waits.
fn block_on_ready<T>(mut future: TransactionFuture<'_, T>) -> BoardResult<T> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => {
            Err(BoardError::internal("a command waited for something other than SQLite"))
        }
    }
}

/// Returns whether the SQLite database in this file has a board, and changes nothing.
pub fn holds_board(file: &Path) -> rusqlite::Result<bool> {
    // SQLite removes the log of an empty file, also with a connection that only reads.
    if file.metadata().is_ok_and(|file| file.is_file() && file.len() == 0) {
        return Ok(false);
    }
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(file, read_only)?;
    let find =
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'board_migrations') AS is_there";
    connection.query_row(find, [], |row| row.get("is_there"))
}

impl From<sqlite::Database> for BoardDatabase {
    fn from(database: sqlite::Database) -> Self {
        Self::Sqlite(database)
    }
}

impl From<Pool> for BoardDatabase {
    fn from(pool: Pool) -> Self {
        Self::Postgres(PostgresDatabase::new(pool))
    }
}

/// Fails if less than [`MIN_FREE_SPACE`] is free on the disk of the database. Succeeds if the free space is unknown,
/// for example on a file system that reports a size of 0.
fn check_free_space(connection: &rusqlite::Connection) -> BackendResult<()> {
    let path = connection.path().filter(|path| !path.is_empty());
    let disk =
        path.and_then(|path| rustix::fs::statvfs(path).ok()).filter(|disk| disk.f_blocks > 0);
    match disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)) {
        Some(free) if free < MIN_FREE_SPACE => Err(BackendError::new("the disk is full")),
        _ => Ok(()),
    }
}
