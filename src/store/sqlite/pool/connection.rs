//! Setup of connections.

use std::time::Duration;

#[cfg(feature = "sqlite-trace")]
use rusqlite::StatementStatus;
use rusqlite::config::DbConfig;
#[cfg(feature = "sqlite-trace")]
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, ffi};

use super::error::Result;
use super::{DatabasePath, DatabaseSettings, SqliteError, reader};

/// Timeout of the wait for the writes of another connection.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of cached prepared statements of a connection.
const STATEMENT_CACHE_CAPACITY: usize = 256;

/// With a write-ahead log, readers and the writer do not wait for each other.
const WAL: &str = "PRAGMA journal_mode = WAL";

/// Number of attempts to enable the write-ahead log.
const MAX_ATTEMPTS: usize = 100;

/// Committed writes survive a power failure (`FULL`). Pages are read from a memory map of up to 2 GiB of the file. A log that
/// restarts keeps at most 4 MiB of its file.
const PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA mmap_size = 2147483648;
    PRAGMA journal_size_limit = 4194304;
    PRAGMA foreign_keys = ON;
";

/// Journals of savepoints are in memory, because in a file they take a third of the time of a write. Commits do not
/// copy the log into the database ([`checkpoint`](super::checkpoint)).
const WRITER_PRAGMAS: &str = "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0";

/// Opens a connection for writes.
pub(super) fn writer(path: &DatabasePath, settings: &DatabaseSettings) -> Result<Connection> {
    let connection = open(path, settings)?;
    connection.execute_batch(WRITER_PRAGMAS)?;
    Ok(connection)
}

/// Opens a connection that rejects writes.
pub(super) fn reader(path: &DatabasePath, settings: &DatabaseSettings) -> Result<Connection> {
    let connection = open(path, settings)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn open(path: &DatabasePath, settings: &DatabaseSettings) -> Result<Connection> {
    path.open()
        .map_err(SqliteError::from)
        .and_then(|connection| set_up(connection, settings))
        .map_err(|error| path.describe_error(error))
}

/// Sets up a connection. Rejects read-only files, because SQLite does not: it opens a file without write permission for
/// reading.
fn set_up(mut connection: Connection, settings: &DatabaseSettings) -> Result<Connection> {
    if connection.is_readonly(MAIN_DB)? {
        let read_only = ffi::Error::new(ffi::SQLITE_READONLY);
        return Err(Error::SqliteFailure(read_only, None).into());
    }
    check_encoding(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    // Without this option, a statement is planned again for each new value of a `LIMIT` or a lower bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    enable_wal(&connection)?;
    connection.execute_batch(PRAGMAS)?;
    let cache = -i64::from(settings.cache_kib);
    connection.pragma_update(None, "cache_size", cache)?;
    reader::make_interruptible(&mut connection);
    #[cfg(feature = "sqlite-trace")]
    if tracing::enabled!(tracing::Level::TRACE) {
        let events = TraceEventCodes::SQLITE_TRACE_STMT | TraceEventCodes::SQLITE_TRACE_PROFILE;
        // The result type differs between versions of rusqlite; without the hook, statements are not logged.
        let _ = connection.trace_v2(events, Some(trace));
    }
    Ok(connection)
}

/// Refuses another encoding than UTF-8: statements compare texts with bytes, and the lengths of texts are limited in bytes.
fn check_encoding(connection: &Connection) -> Result<()> {
    let encoding: String = connection.pragma_query_value(None, "encoding", |row| row.get(0))?;
    if encoding == "UTF-8" {
        return Ok(());
    }
    Err(SqliteError::unusable(format_args!(
        "the encoding of the database is {encoding}; use a database in UTF-8"
    )))
}

/// Logs the text of a statement, without parameters, and its work afterwards: the number of steps of SQLite's virtual machine
/// in all executions since the statement was prepared. The statements of triggers are not logged.
#[cfg(feature = "sqlite-trace")]
fn trace(event: TraceEvent<'_>) {
    match event {
        TraceEvent::Stmt(statement, text) if statement.sql() == text => {
            tracing::trace!(sql = text, "executing statement");
        }
        TraceEvent::Profile(statement, _) => {
            let steps = statement.get_status(StatementStatus::VmStep);
            tracing::trace!(steps, sql = &*statement.sql(), "executed statement");
        }
        _ => {}
    }
}

/// Enables the write-ahead log. If two connections enable the log of a new file at the same time, SQLite rejects one of
/// them to avoid a deadlock. The rejected connection waits for the lock of the other one and retries.
fn enable_wal(connection: &Connection) -> Result<(), Error> {
    for _ in 1..MAX_ATTEMPTS {
        match connection.execute_batch(WAL) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
            }
            done => return done,
        }
    }
    connection.execute_batch(WAL)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static OTHER: Cell<Option<Connection>> = const { Cell::new(None) };
    }

    #[test]
    fn a_connection_that_may_not_enable_the_log_waits_for_the_other_one_and_retries() {
        let directory = tempfile::tempdir().unwrap();
        let [mut connection, other] =
            [0, 1].map(|_| Connection::open(directory.path().join("new.db")).unwrap());
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        OTHER.set(Some(other));
        // SQLite calls it for a statement that waits, but not for one that it rejects to avoid a deadlock.
        connection.busy_handler(Some(|_| OTHER.take().is_some())).unwrap();
        enable_wal(&connection).unwrap();
        assert!(OTHER.take().is_none(), "the log was enabled at once");
    }

    #[test]
    fn connections_have_the_settings_of_durable_writes_and_cheap_reads() {
        let directory = tempfile::tempdir().unwrap();
        let path = DatabasePath::File { path: directory.path().join("new.db"), create: true };
        let settings = DatabaseSettings { cache_kib: 123, ..DatabaseSettings::default() };
        let writer = writer(&path, &settings).unwrap();
        let reader = reader(&path, &settings).unwrap();
        // The value of the writer, and that of a reader.
        for (name, of_writer, of_reader) in [
            ("synchronous", 2, 2),
            ("foreign_keys", 1, 1),
            // The largest map that SQLite allows.
            ("mmap_size", 0x7fff_0000, 0x7fff_0000),
            ("journal_size_limit", 4 << 20, 4 << 20),
            ("cache_size", -123, -123),
            ("busy_timeout", 10_000, 10_000),
            ("query_only", 0, 1),
            ("temp_store", 2, 0),
            ("wal_autocheckpoint", 0, 1_000),
        ] {
            let value = |connection: &Connection| -> i64 {
                connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
            };
            assert_eq!([&writer, &reader].map(value), [of_writer, of_reader], "{name}");
        }
        for connection in [writer, reader] {
            let plans_are_stable = connection.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG);
            assert!(plans_are_stable.unwrap());
        }
    }
}
