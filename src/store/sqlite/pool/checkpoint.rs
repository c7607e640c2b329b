//! Truncation of the write-ahead log.
//!
//! SQLite copies the log into the database regularly, but restarts the log only while no transaction reads from it. If
//! reads overlap, there is always such a transaction. The writer therefore waits for the running reads to end. Reads
//! that begin in the meantime use only the database file.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use rusqlite::Connection;

use super::connection::BUSY_TIMEOUT;

/// Size in bytes from which the writer truncates the log.
const LIMIT: u64 = 8 * 1024 * 1024;

/// Size in bytes from which the writer waits up to [`BUSY_TIMEOUT`] for running reads.
const URGENT: u64 = 4 * LIMIT;

/// Timeout of the wait for running reads while the log is smaller than [`URGENT`].
const SHORT_WAIT: Duration = Duration::from_millis(100);

/// Write-ahead log of one database.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// `None` in memory.
    log: Option<PathBuf>,
    /// Size of the log in bytes at which the writer next tries to truncate it.
    next_attempt_size: u64,
}

impl Checkpoint {
    pub(super) fn of(connection: &Connection) -> Self {
        let database = connection.path().filter(|path| !path.is_empty());
        Self {
            log: database.map(|path| format!("{path}-wal").into()),
            next_attempt_size: LIMIT,
        }
    }

    /// Truncates the log if it is too large. If a read takes longer than the timeout, the next attempt follows when the log
    /// has grown by another [`LIMIT`].
    pub(super) fn keep_small(&mut self, connection: &Connection) {
        let size = self.size().unwrap_or_default();
        if size < LIMIT {
            // SQLite has restarted the log itself.
            self.next_attempt_size = LIMIT;
        }
        if size < self.next_attempt_size {
            return;
        }
        let wait = if size < URGENT {
            SHORT_WAIT
        } else {
            BUSY_TIMEOUT
        };
        match truncate(connection, wait) {
            Ok(true) => {
                self.next_attempt_size = LIMIT;
                return;
            }
            Ok(false) => {
                tracing::warn!(
                    size,
                    "write-ahead log not truncated: a read transaction holds it"
                );
            }
            Err(error) => tracing::warn!(size, %error, "write-ahead log not truncated"),
        }
        self.next_attempt_size = size.saturating_add(LIMIT);
    }

    fn size(&self) -> io::Result<u64> {
        let log = self.log.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok(fs::metadata(log)?.len())
    }
}

/// Returns `true` if the log was truncated.
fn truncate(connection: &Connection, wait: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(wait)?;
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy = connection.query_row(sql, [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(!busy?)
}
