//! Truncation of the write-ahead log.
//!
//! A thread copies the log into the database while writes continue. It does not wait for reads, and copies the part
//! that no running read needs. If at most [`SHORT_REST`] pages remain, the writer truncates the log, and for that waits
//! up to [`MAX_WAIT`] for the running reads. Reads that begin during this wait use only the database file. If more
//! pages remain, for example because of a long read transaction of another program, the log grows and no write waits.
//!
//! The removal of hundreds of megabytes from a file takes up to a second. A longer log is therefore shortened in steps of
//! [`MAX_CUT`]: the writer restarts the log, and the next commit removes the end of the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Result};

use super::connection::{self, BUSY_TIMEOUT};
use super::thread::start;
use super::{DatabasePath, DatabaseSettings, SqliteError};

/// Size in bytes from which the log is truncated.
const LIMIT: u64 = 8 * 1024 * 1024;

/// Maximum number of bytes by which the log becomes shorter at once.
const MAX_CUT: u64 = 8 * 1024 * 1024;

/// Size in bytes to which a log that restarts is shortened at most.
const MIN_SIZE: u64 = 4 * 1024 * 1024;

/// Size in bytes from which a failure is logged. It is logged again each time that the size has doubled.
const WARNING_LIMIT: u64 = 4 * LIMIT;

/// Maximum number of pages that the writer copies itself when it truncates the log.
const SHORT_REST: i64 = 1000;

/// Maximum number of copies before a truncation. Each copies what was written during the previous one. If writes are
/// faster than the copies, the writer copies the rest.
const MAX_COPIES: usize = 4;

/// Timeout of the writer's wait for running reads.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Time from a failure to the next attempt, unless the log grows by another [`LIMIT`] before.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Write-ahead log of one database, as the writer sees it.
#[derive(Debug)]
pub(super) struct Checkpoint {
    log: PathBuf,
    /// Requests of copies, at most one at a time: `true` if the thread can also truncate the log.
    requests: SyncSender<bool>,
    /// Results of copies: `true` if the writer can truncate the log.
    results: Receiver<Result<bool>>,
    is_copying: bool,
    next_attempt_at: Instant,
    /// Size of the log in bytes from which an attempt follows before [`Self::next_attempt_at`].
    next_attempt_size: u64,
    next_warning_size: u64,
    /// Size in bytes to which the next restart of the log shortens it.
    restart_size: u64,
}

impl Checkpoint {
    /// Starts the thread of a database in a file; returns `None` in memory. The thread ends when the value is dropped.
    pub(super) fn start(
        path: &DatabasePath,
        settings: &DatabaseSettings,
        writer: &Connection,
    ) -> std::result::Result<Option<(Self, JoinHandle<()>)>, SqliteError> {
        let Some(file) = writer.path().filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let log = PathBuf::from(format!("{file}-wal"));
        let connection = connection::reader(path, settings)?;
        let (requests, requested) = sync_channel(1);
        let (copied, results) = sync_channel(1);
        let thread = start("forum-api checkpoint", move || {
            for can_truncate in requested {
                drop(copied.send(copy(&connection, can_truncate)));
            }
        })?;
        let checkpoint = Self {
            log,
            requests,
            results,
            is_copying: false,
            next_attempt_at: Instant::now(),
            next_attempt_size: LIMIT,
            next_warning_size: WARNING_LIMIT,
            restart_size: MIN_SIZE,
        };
        Ok(Some((checkpoint, thread)))
    }

    /// Truncates the log if it is too large and has been copied, or shortens it by a step, and otherwise requests a copy.
    pub(super) fn keep_small(&mut self, writer: &Connection) {
        let size = size(&self.log);
        let restart_size = size.saturating_sub(MAX_CUT).max(MIN_SIZE);
        if restart_size != self.restart_size {
            let set = writer.pragma_update(None, "journal_size_limit", restart_size as i64);
            self.restart_size = if set.is_ok() { restart_size } else { self.restart_size };
        }
        let can_truncate = size <= LIMIT + MAX_CUT;
        if size < LIMIT {
            self.next_attempt_size = LIMIT;
            self.next_warning_size = WARNING_LIMIT;
        }
        if !self.is_copying {
            let is_due = size >= LIMIT && Instant::now() >= self.next_attempt_at;
            if is_due || size >= self.next_attempt_size {
                self.is_copying = self.requests.try_send(can_truncate).is_ok();
            }
            return;
        }
        let Ok(copied) = self.results.try_recv() else {
            return;
        };
        self.is_copying = false;
        if size < LIMIT {
            return;
        }
        let mode = if can_truncate { TRUNCATE } else { RESTART };
        let truncated = copied.and_then(|copied| Ok(copied && run(writer, mode, MAX_WAIT)?));
        if let Ok(true) = truncated {
            return;
        }
        self.next_attempt_size = size.saturating_add(LIMIT);
        self.next_attempt_at = Instant::now() + RETRY_INTERVAL;
        if size < self.next_warning_size {
            return;
        }
        self.next_warning_size = size.saturating_mul(2);
        if let Err(error) = truncated {
            tracing::warn!(size, %error, "write-ahead log not truncated");
        } else {
            tracing::warn!(size, "write-ahead log not truncated: a read transaction holds it");
        }
    }
}

fn size(log: &Path) -> u64 {
    fs::metadata(log).map_or(0, |metadata| metadata.len())
}

/// Copies the log into the database. With `can_truncate`, truncates the log if no read or write uses it. Returns `false`
/// if a read transaction needs more than [`SHORT_REST`] pages of the log.
fn copy(connection: &Connection, can_truncate: bool) -> Result<bool> {
    let mut copied_before = 0;
    for _ in 0..MAX_COPIES {
        let (is_busy, pages, copied): (bool, i64, i64) =
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        if is_busy || pages - copied > SHORT_REST {
            return Ok(false);
        }
        if copied - copied_before <= SHORT_REST {
            break;
        }
        copied_before = copied;
    }
    if can_truncate {
        run(connection, TRUNCATE, Duration::ZERO)?;
    }
    Ok(true)
}

const TRUNCATE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The next write begins the log again.
const RESTART: &str = "PRAGMA wal_checkpoint(RESTART)";

/// Runs a checkpoint. Returns `false` if reads of the log did not end in time.
fn run(connection: &Connection, mode: &str, wait: Duration) -> Result<bool> {
    connection.busy_timeout(wait)?;
    let is_busy = connection.query_row(mode, [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(!is_busy?)
}
