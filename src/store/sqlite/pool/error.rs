//! Errors of a database.

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::error::{BackendError, IntoBackendError, Overloaded};

/// An error of a [`Database`](super::Database). It prints as one sentence.
///
/// All operations of a group that could not be committed share one.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct SqliteError(Arc<Cause>);

#[derive(Debug, thiserror::Error)]
pub(super) enum Cause {
    #[error("{}", sentence(.0))]
    Sqlite(rusqlite::Error),
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
    Overloaded(#[source] Overloaded),
    #[error("the caller no longer waits for the operation")]
    Abandoned,
}

impl SqliteError {
    /// The database cannot be used, because of `reason`.
    pub(in crate::store::sqlite) fn unusable(reason: impl ToString) -> Self {
        Cause::Unusable(reason.to_string()).into()
    }

    /// SQLite's code of the error, if SQLite reported it.
    pub(super) fn code(&self) -> Option<ErrorCode> {
        match &*self.0 {
            Cause::Sqlite(error) => error.sqlite_error_code(),
            _ => None,
        }
    }

    /// The queue is full, so the operation was not run.
    pub(super) fn overloaded() -> Self {
        let retry_after = Duration::from_secs(1);
        Cause::Overloaded(Overloaded { retry_after }).into()
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.0, Cause::Closed)
    }
}

/// The message of rusqlite for invalid SQL would repeat the whole statement.
fn sentence(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    }
}

/// Returns the result of `run`, or an error when it panics.
pub(super) fn catch_panic<T, E: From<SqliteError>>(
    run: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let panicked = || SqliteError::from(Cause::Panicked).into();
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        // Dropping the payload could panic again.
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
