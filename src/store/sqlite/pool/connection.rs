//! Setup of connections.

use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, Result, ffi};
use tracing::Level;

use super::{DatabasePath, DatabaseSettings, SqliteError, reader};

/// Limit of the wait for another connection that writes.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of prepared statements that a connection keeps.
const STATEMENT_CACHE_CAPACITY: usize = 256;

/// Readers and the writer do not wait for each other.
const WAL: &str = "PRAGMA journal_mode = WAL";

/// Number of attempts to turn the log on.
const MAX_ATTEMPTS: usize = 100;

/// Acknowledged writes survive a power failure (`FULL`); pages are read from a map of the file (up to 2 GiB of it)
/// rather than copied, beside the cache. A log that starts over keeps at most 4 MiB of its file.
const PRAGMAS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA mmap_size = 2147483648;
    PRAGMA journal_size_limit = 4194304;
    PRAGMA foreign_keys = ON;
";

/// What a savepoint rolls back to is kept in memory: in a file it takes a third of a write's time.
const TEMP_STORE: &str = "PRAGMA temp_store = MEMORY";

/// A connection that may write.
pub(super) fn writer(
    location: &DatabasePath,
    settings: &DatabaseSettings,
) -> Result<Connection, SqliteError> {
    let connection = open(location, settings)?;
    connection.execute_batch(TEMP_STORE)?;
    Ok(connection)
}

/// A connection that may only read.
pub(super) fn reader(
    location: &DatabasePath,
    settings: &DatabaseSettings,
) -> Result<Connection, SqliteError> {
    let connection = open(location, settings)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn open(location: &DatabasePath, settings: &DatabaseSettings) -> Result<Connection, SqliteError> {
    let connection = location.open();
    let connection = connection.and_then(|connection| set_up(connection, settings));
    connection.map_err(|error| location.describe_error(error.into()))
}

/// SQLite opens a file without write permission for reading, and reports no error.
fn set_up(mut connection: Connection, settings: &DatabaseSettings) -> Result<Connection> {
    if connection.is_readonly(MAIN_DB)? {
        let read_only = ffi::Error::new(ffi::SQLITE_READONLY);
        return Err(Error::SqliteFailure(read_only, None));
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    // Otherwise a statement is planned again whenever another `LIMIT` or lower bound is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    turn_log_on(&connection)?;
    connection.execute_batch(PRAGMAS)?;
    let cache = -i64::from(settings.cache_kib);
    connection.pragma_update(None, "cache_size", cache)?;
    reader::make_interruptible(&mut connection);
    if tracing::enabled!(Level::TRACE) {
        // The result type differs between versions of rusqlite; without the hook, statements are not logged.
        let _ = connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(trace));
    }
    Ok(connection)
}

/// Logs the text of a statement, without parameters. The statements of triggers are not logged.
fn trace(event: TraceEvent<'_>) {
    if let TraceEvent::Stmt(statement, text) = event
        && statement.sql() == text
    {
        tracing::trace!(sql = text, "executing statement");
    }
}

/// Of two connections that do this to a new file at once, SQLite refuses one to avoid a deadlock. That one waits for the
/// other's lock, and then finds the log on.
fn turn_log_on(connection: &Connection) -> Result<()> {
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
