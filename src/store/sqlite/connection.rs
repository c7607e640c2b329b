//! How a connection is set up.

use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, Result, ffi};
use tracing::Level;

use super::{DatabaseSettings, Location, SqliteError, interrupt};

/// How long a connection waits for another that writes.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 256;

/// Readers and the writer do not wait for each other.
const LOG: &str = "PRAGMA journal_mode = WAL";

/// How often turning the log on is tried.
const TRIES: usize = 100;

/// Acknowledged writes survive a power failure (`FULL`); pages are read from a map of the file (up to 2 GiB of it)
/// rather than copied, beside the cache. A log that starts over keeps at most 4 MiB of its file.
const PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA mmap_size = 2147483648;
    PRAGMA journal_size_limit = 4194304;
    PRAGMA foreign_keys = ON;
";

/// What a savepoint rolls back to is kept in memory: in a file it takes a third of a write's time.
const IN_MEMORY: &str = "PRAGMA temp_store = MEMORY";

/// A connection that may write.
pub(super) fn writer(
    location: &Location,
    settings: &DatabaseSettings,
) -> Result<Connection, SqliteError> {
    let connection = open(location, settings)?;
    connection.execute_batch(IN_MEMORY)?;
    Ok(connection)
}

/// A connection that may only read.
pub(super) fn reader(
    location: &Location,
    settings: &DatabaseSettings,
) -> Result<Connection, SqliteError> {
    let connection = open(location, settings)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn open(location: &Location, settings: &DatabaseSettings) -> Result<Connection, SqliteError> {
    let connection = location.open();
    let connection = connection.and_then(|connection| set_up(connection, settings));
    connection.map_err(|error| location.explain(error.into()))
}

/// SQLite opens a file that may not be written for reading, without a word.
fn set_up(mut connection: Connection, settings: &DatabaseSettings) -> Result<Connection> {
    if connection.is_readonly(MAIN_DB)? {
        let read_only = ffi::Error::new(ffi::SQLITE_READONLY);
        return Err(Error::SqliteFailure(read_only, None));
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise a statement is planned anew whenever another `LIMIT` or lower bound is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    turn_log_on(&connection)?;
    connection.execute_batch(PRAGMAS)?;
    let cache = -i64::from(settings.cache_kib);
    connection.pragma_update(None, "cache_size", cache)?;
    interrupt::install(&mut connection);
    if tracing::enabled!(Level::TRACE) {
        // What it gives is not the same in each version of rusqlite; without it, statements are not told.
        let _ = connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(trace));
    }
    Ok(connection)
}

/// Tells the log of a statement, as it was written: without what is bound to it. What its triggers do is a part of it.
fn trace(event: TraceEvent<'_>) {
    if let TraceEvent::Stmt(statement, text) = event
        && statement.sql() == text
    {
        tracing::trace!(sql = text, "run");
    }
}

/// Of two that do this to a new file at once SQLite refuses one, lest they wait for each other for ever. That one
/// waits for the other's lock, and then finds the log on.
fn turn_log_on(connection: &Connection) -> Result<()> {
    for _ in 1..TRIES {
        match connection.execute_batch(LOG) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
            }
            done => return done,
        }
    }
    connection.execute_batch(LOG)
}
