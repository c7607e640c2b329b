//! Copy of a board into an empty database of the other kind.
//!
//! The rows of each table are a stream: one thread reads, the other one writes, and a few batches are in memory. The
//! source is read in one transaction, so that all tables are of the same state. The target becomes a board in one step
//! at the end: with a commit on Postgres, and with the name of a complete file on SQLite.
//!
//! Indexes, foreign keys and the search index of the target are built after the rows are there. Then the rows of the
//! target are read again and compared with the rows that were read from the source.

mod postgres;
mod progress;
mod row;
mod sqlite;
mod tables;

use std::fmt::Display;
use std::path::Path;

use deadpool_postgres::Pool;
use forum_api::audit::AuditEntry;
use forum_api::host::{BackendError, BackendResult, BoardError, BoardResult};
use forum_api::store::postgres::tokio_postgres_0_7::check_pooler;
use tokio::sync::mpsc;
use tokio::task::{JoinError, spawn_blocking};

pub use progress::Progress;
pub use row::Checksum;
use tables::Table;

/// Number of batches that wait between the thread that reads and the thread that writes.
const WAITING_BATCHES: usize = 4;

/// Error of a source that is online.
const IS_ONLINE: &str = "the board is online; run `forum-server board offline` first, or pass --online to test the copy: \
                         changes after its beginning are missing in the target";

/// Error of a source whose events a worker still has to move.
const FEED_IS_MOVING: &str = "a worker has not moved all events of the feed that a restored dump or a copy contained; run \
                              `forum-server worker` until `GET /x/events` returns them, and repeat the copy";

/// A complete copy.
#[derive(Debug)]
pub struct CopiedBoard {
    /// The names of the tables, and their checksums, which equal those of the source.
    pub tables: Vec<(String, Checksum)>,
    /// `true` if the source was offline.
    pub was_offline: bool,
}

/// Copies the board in a SQLite file into a Postgres database, in one transaction, which also writes `entry` to the audit
/// log. With `allow_online`, also copies a board that is online.
///
/// # Errors
/// If the board is online, the target has tables, another copy writes it, a value cannot be stored, or a database
/// fails. The target is then unchanged, unless the connection breaks during the commit.
pub async fn to_postgres(
    source: &Path,
    target: &Pool,
    allow_online: bool,
    entry: &AuditEntry,
    progress: &Progress,
) -> BoardResult<CopiedBoard> {
    let path = source.to_owned();
    let (mut source, was_offline) =
        blocking(move || sqlite::open_source(&path)).await.during(SOURCE)?;
    check_offline(was_offline, allow_online)?;
    check_pooler(target).await?;
    let mut client = target.get().await.during(TARGET)?;
    let tx = client.transaction().await.during(TARGET)?;
    if let Some(reason) = postgres::begin_target(&tx).await.during(TARGET)? {
        return Err(BoardError::conflict(reason));
    }
    let columns = postgres::tables(&tx).await.during(TARGET)?;
    let names = sqlite::tables(&source).during(SOURCE)?;
    let tables = tables::pair(names, columns)?;
    let rows = sqlite::count(&source, &tables).during(SOURCE)?;
    let indexes = postgres::drop_indexes(&tx).await.during(TARGET)?;

    progress.begin_step("Copying", Some(rows));
    let mut copied = Vec::with_capacity(tables.len());
    for table in &tables {
        let (sender, receiver) = mpsc::channel(WAITING_BATCHES);
        let read = blocking({
            let table = table.clone();
            move || {
                let checksum = sqlite::read_batches(&source, &table, &sender)?;
                let last_id = sqlite::last_id(&source, &table)?;
                Ok((source, checksum, last_id))
            }
        });
        let reader = tokio::spawn(read);
        let written = postgres::write(&tx, table, receiver, progress).await;
        // The reader ends without an error if the writer has failed.
        let (connection, checksum, last_id) = join(reader.await).during(copying(table))?;
        written.during(copying(table))?;
        source = connection;
        postgres::set_sequence(&tx, table, last_id).await.during(copying(table))?;
        copied.push(checksum);
    }

    progress.begin_step("Building the indexes", None);
    postgres::build_indexes(&tx, &indexes).await.during(INDEXES)?;

    progress.begin_step("Comparing", Some(rows));
    let mut compared = Vec::with_capacity(tables.len());
    for (table, expected) in tables.into_iter().zip(copied) {
        let found = postgres::checksum(&tx, &table, progress).await.during(copying(&table))?;
        compared.push(compare(table, expected, found)?);
    }
    postgres::finish(&tx, entry).await.during(TARGET)?;
    tx.commit().await.during(TARGET)?;
    Ok(CopiedBoard { tables: compared, was_offline })
}

/// Copies the board in a Postgres database into an empty file, which becomes a SQLite database that is not synced, and
/// writes `entry` to its audit log. With `allow_online`, also copies a board that is online.
///
/// # Errors
/// If the board is online, the events of its feed wait for new positions, a value cannot be stored, or a database fails.
pub async fn to_sqlite(
    source: &Pool,
    target: &Path,
    allow_online: bool,
    entry: &AuditEntry,
    progress: &Progress,
) -> BoardResult<CopiedBoard> {
    let mut client = source.get().await.during(SOURCE)?;
    let (tx, was_offline) = postgres::begin_source(&mut client).await.during(SOURCE)?;
    check_offline(was_offline, allow_online)?;
    if postgres::is_feed_moving(&tx).await.during(SOURCE)? {
        return Err(BoardError::conflict(FEED_IS_MOVING));
    }
    let path = target.to_owned();
    let (mut target, indexes) =
        blocking(move || sqlite::create_target(&path)).await.during(TARGET)?;
    let columns = postgres::tables(&tx).await.during(SOURCE)?;
    let names = sqlite::tables(&target).during(TARGET)?;
    let tables = tables::pair(names, columns)?;
    let rows = postgres::count(&tx, &tables).await.during(SOURCE)?;

    progress.begin_step("Copying", Some(rows));
    let mut copied = Vec::with_capacity(tables.len());
    for table in &tables {
        let last_id = postgres::last_id(&tx, table).await.during(copying(table))?;
        let (sender, receiver) = mpsc::channel(WAITING_BATCHES);
        let write = blocking({
            let table = table.clone();
            move || sqlite::write(&target, &table, receiver, last_id).map(|()| target)
        });
        let writer = tokio::spawn(write);
        let read = postgres::read_batches(&tx, table, sender, progress).await;
        // The reader ends without an error if the writer has failed.
        target = join(writer.await).during(copying(table))?;
        copied.push(read.during(copying(table))?);
    }

    progress.begin_step("Building the indexes", None);
    target = blocking(move || sqlite::build_indexes(&target, &indexes).map(|()| target))
        .await
        .during(INDEXES)?;

    progress.begin_step("Comparing", Some(rows));
    let mut compared = Vec::with_capacity(tables.len());
    for (table, expected) in tables.into_iter().zip(copied) {
        let (connection, found) = blocking({
            let table = table.clone();
            move || sqlite::checksum(&target, &table).map(|checksum| (target, checksum))
        })
        .await
        .during(copying(&table))?;
        target = connection;
        progress.advance(found.rows);
        compared.push(compare(table, expected, found)?);
    }
    let entry = entry.insert_parameters(1);
    blocking(move || sqlite::finish(&target, entry)).await.during(TARGET)?;
    Ok(CopiedBoard { tables: compared, was_offline })
}

const SOURCE: &str = "cannot read the source";

const TARGET: &str = "cannot write the target";

const INDEXES: &str = "cannot build the indexes of the target";

fn copying(table: &Table) -> String {
    format!("cannot copy the table \"{}\"", table.name)
}

fn check_offline(was_offline: bool, allow_online: bool) -> BoardResult<()> {
    if was_offline || allow_online { Ok(()) } else { Err(BoardError::conflict(IS_ONLINE)) }
}

fn compare(table: Table, expected: Checksum, found: Checksum) -> BoardResult<(String, Checksum)> {
    if expected != found {
        return Err(BoardError::internal(format!(
            "the table \"{}\" of the target differs from the source: {found} instead of {expected}",
            table.name
        )));
    }
    Ok((table.name, found))
}

/// Runs work with SQLite on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> BackendResult<T> + Send + 'static,
) -> BackendResult<T> {
    join(spawn_blocking(work).await)
}

fn join<T>(result: Result<BackendResult<T>, JoinError>) -> BackendResult<T> {
    result.map_err(|_| BackendError::new("a thread of the copy failed"))?
}

/// Names the failed part of the copy in its error.
trait During<T> {
    fn during(self, part: impl Display) -> BoardResult<T>;
}

impl<T, E: Into<BackendError>> During<T> for Result<T, E> {
    fn during(self, part: impl Display) -> BoardResult<T> {
        self.map_err(|error| BoardError::internal(format!("{part}: {}", error.into())))
    }
}
