//! Errors of a database.

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Error, ErrorCode};

use crate::driver_error::ColumnError;
use crate::driver_error::sqlite::describe;
use crate::error::{OverloadedError, impl_into_backend_error};

/// Time after which a caller may repeat an operation that was not run.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Error of a [`Database`](super::Database). `Display` and `Debug` return one sentence without the statement and
/// without values.
///
/// The operations of a transaction that fails share one error, which is cheap to clone.
#[derive(Clone, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub struct SqliteError(Arc<Cause>);

#[derive(thiserror::Error)]
pub(super) enum Cause {
    #[error("{}", describe(.0))]
    Sqlite(Error),
    #[error("{0}")]
    Malformed(ColumnError),
    #[error("{0}")]
    Unusable(String),
    #[error("failed to start the database threads: {0}")]
    Thread(io::Error),
    #[error("the database operation panicked")]
    Panicked,
    #[error("the transaction was rolled back")]
    RolledBack(#[source] OverloadedError),
    #[error("the database is closed")]
    Closed,
    #[error("{}", describe(.0))]
    Disk(Error, #[source] OverloadedError),
    #[error("the queue of database operations is full")]
    QueueFull(#[source] OverloadedError),
    #[error("the turn of the write did not come in time")]
    Late(#[source] OverloadedError),
    #[error("the database is locked by another process")]
    Locked(#[source] OverloadedError),
    #[error("the caller no longer waits for the operation")]
    Abandoned,
}

pub(super) type Result<T, E = SqliteError> = std::result::Result<T, E>;

impl SqliteError {
    /// Error of a database that cannot be used.
    pub(in crate::store::sqlite) fn unusable(reason: impl ToString) -> Self {
        Cause::Unusable(reason.to_string()).into()
    }

    /// Returns the error code of SQLite; `None` for other errors.
    pub(super) fn code(&self) -> Option<ErrorCode> {
        match &*self.0 {
            Cause::Sqlite(error) | Cause::Disk(error, _) => error.sqlite_error_code(),
            _ => None,
        }
    }

    /// Error of an operation that was not run because the queue is full.
    pub(super) fn overloaded() -> Self {
        Cause::QueueFull(OverloadedError::new(RETRY_AFTER)).into()
    }

    /// Error of a write that was not run because its turn did not come in time.
    pub(super) fn late() -> Self {
        Cause::Late(OverloadedError::new(RETRY_AFTER)).into()
    }

    /// Error of a write that was not run because another process holds the lock of the database.
    pub(super) fn locked() -> Self {
        Cause::Locked(OverloadedError::new(RETRY_AFTER)).into()
    }

    /// Error of the operations of a transaction that SQLite has rolled back.
    pub(super) fn rolled_back() -> Self {
        Cause::RolledBack(OverloadedError::new(RETRY_AFTER)).into()
    }

    /// Error of a transaction that could not begin: none of its operations has run.
    pub(super) fn of_begin(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy) => Self::locked(),
            _ => error.into(),
        }
    }

    /// Error of a commit. After an error of the disk, the outcome is unknown, unless the disk is full.
    pub(super) fn of_commit(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::SystemIoFailure) => Cause::Sqlite(error).into(),
            _ => error.into(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.0, Cause::Closed)
    }
}

display_debug!(SqliteError);
display_debug!(Cause);

/// Returns the result of `run`, or an error if it panics.
pub(super) fn catch_panic<T, E: From<SqliteError>>(
    run: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let panicked = || SqliteError::from(Cause::Panicked).into();
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        // Dropping the payload can panic again.
        mem::forget(payload);
        Err(panicked())
    })
}

/// Runs a function, and ignores its panic.
pub(super) fn catch(run: impl FnOnce()) {
    let result = catch_panic(|| {
        run();
        Ok::<_, SqliteError>(())
    });
    drop(result);
}

impl From<Cause> for SqliteError {
    fn from(cause: Cause) -> Self {
        Self(Arc::new(cause))
    }
}

/// A statement that fails because of the disk has no effect, so that the operation can be repeated.
impl From<Error> for SqliteError {
    fn from(error: Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
                Cause::Disk(error, OverloadedError::new(RETRY_AFTER)).into()
            }
            _ => Cause::Sqlite(error).into(),
        }
    }
}

impl From<ColumnError> for SqliteError {
    fn from(error: ColumnError) -> Self {
        Cause::Malformed(error).into()
    }
}

impl_into_backend_error!(SqliteError: SqliteError, Error);
