//! Errors of a database.

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::error::{BackendError, IntoBackendError, OverloadedError};
use crate::store::sql::ColumnError;

/// Time after which a caller may repeat an operation that the full queue rejected.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Error of a [`Database`](super::Database). Prints as one sentence.
///
/// The operations of a transaction that fails share one error, which is cheap to clone.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub struct SqliteError(Arc<Cause>);

#[derive(Debug, thiserror::Error)]
pub(super) enum Cause {
    #[error("{}", describe_error(.0))]
    Sqlite(rusqlite::Error),
    #[error("{0}")]
    Malformed(ColumnError),
    #[error("{0}")]
    Unusable(String),
    #[error("failed to start the database threads: {0}")]
    Thread(io::Error),
    #[error("the database operation panicked")]
    Panicked,
    #[error("the transaction was rolled back")]
    RolledBack,
    #[error("the database is closed")]
    Closed,
    #[error("{0}")]
    Overloaded(#[source] OverloadedError),
    #[error("the caller no longer waits for the operation")]
    Abandoned,
}

impl SqliteError {
    /// Error of a database that cannot be used.
    pub(in crate::store::sqlite) fn unusable(reason: impl ToString) -> Self {
        Cause::Unusable(reason.to_string()).into()
    }

    /// Returns the error code of SQLite; `None` for other errors.
    pub(super) fn code(&self) -> Option<ErrorCode> {
        match &*self.0 {
            Cause::Sqlite(error) => error.sqlite_error_code(),
            _ => None,
        }
    }

    /// Error of an operation that was not run because the queue is full.
    pub(super) fn overloaded() -> Self {
        Cause::Overloaded(OverloadedError::new(RETRY_AFTER)).into()
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.0, Cause::Closed)
    }
}

/// Returns the error as one sentence. Omits the SQL statement, which rusqlite adds to the message for invalid SQL.
pub(crate) fn describe_error(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    }
}

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

impl From<Cause> for SqliteError {
    fn from(cause: Cause) -> Self {
        Self(Arc::new(cause))
    }
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        Cause::Sqlite(error).into()
    }
}

impl From<ColumnError> for SqliteError {
    fn from(error: ColumnError) -> Self {
        Cause::Malformed(error).into()
    }
}

impl IntoBackendError for SqliteError {
    fn into_backend_error(self) -> BackendError {
        BackendError::new(self)
    }
}

impl IntoBackendError for rusqlite::Error {
    fn into_backend_error(self) -> BackendError {
        SqliteError::from(self).into_backend_error()
    }
}
