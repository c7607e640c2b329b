//! Truncation of the write-ahead log.
//!
//! SQLite copies the log into the database from time to time, but starts the log over only while nothing is read from
//! it. With overlapping reads that never happens by itself: the writer then waits for the reads of that moment to end,
//! while reads that begin meanwhile use the database file only.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

use rusqlite::Connection;

use super::connection::BUSY_TIMEOUT;

/// Size of the log in bytes from which on the writer truncates it.
const LIMIT: u64 = 8 * 1024 * 1024;

/// Size of the log in bytes from which on the writer waits for slow reads as well.
const URGENT: u64 = 4 * LIMIT;

/// How long the writer waits for reads to end below the urgent size.
const SHORT_WAIT: Duration = Duration::from_millis(100);

/// The log of one database.
#[derive(Debug)]
pub(super) struct Checkpoint {
    /// `None` in memory.
    log: Option<PathBuf>,
    /// Size in bytes at which the next attempt is made.
    due: u64,
}

impl Checkpoint {
    pub(super) fn of(connection: &Connection) -> Self {
        let database = connection.path().filter(|path| !path.is_empty());
        Self {
            log: database.map(|path| format!("{path}-wal").into()),
            due: LIMIT,
        }
    }

    /// Truncates the log if it is too large. Fails without consequences while a read goes on for longer than the wait;
    /// the next attempt is made when the log has grown by another limit.
    pub(super) fn keep_small(&mut self, connection: &Connection) {
        let size = self.size().unwrap_or_default();
        if size < self.due {
            return;
        }
        let wait = if size < URGENT {
            SHORT_WAIT
        } else {
            BUSY_TIMEOUT
        };
        match truncate(connection, wait) {
            Ok(true) => self.due = LIMIT,
            outcome => {
                tracing::warn!(
                    size,
                    ?outcome,
                    "write-ahead log not truncated: a read transaction holds it"
                );
                self.due = size.saturating_add(LIMIT);
            }
        }
    }

    fn size(&self) -> io::Result<u64> {
        let log = self.log.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok(fs::metadata(log)?.len())
    }
}

/// Returns whether the log is empty now.
fn truncate(connection: &Connection, wait: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(wait)?;
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy = connection.query_row(sql, [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(!busy?)
}
