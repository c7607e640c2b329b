//! How the database fails.

use std::fmt;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Fault, IntoFault, Overloaded};

use rusqlite::ErrorCode;

/// Why the database did not do what it was asked. It prints as one plain sentence.
///
/// All operations of a group that could not be committed share one.
#[derive(Clone, Debug)]
pub struct SqliteError(Arc<Cause>);

#[derive(Debug)]
enum Cause {
    Sqlite(rusqlite::Error),
    Unusable(String),
    Thread(io::Error),
    PanicError,
    RolledBack,
    Closed,
    Overloaded(Overloaded),
    Abandoned,
}

impl SqliteError {
    /// The place holds no database that can be used, as `sentence` says.
    pub(super) fn unusable(sentence: String) -> Self {
        Cause::Unusable(sentence).into()
    }

    /// A newer program migrated the database.
    pub(super) fn newer_schema(applied: u32, known: u32) -> Self {
        Self::unusable(format!(
            "the database's schema is newer than this program (migration {applied}; the program knows {known}): \
             use the newer program"
        ))
    }

    /// SQLite's code of the error, if it is one of SQLite's.
    pub(super) fn code(&self) -> Option<ErrorCode> {
        match &*self.0 {
            Cause::Sqlite(error) => error.sqlite_error_code(),
            _ => None,
        }
    }

    /// A thread could not be started.
    pub(super) fn thread(error: io::Error) -> Self {
        Cause::Thread(error).into()
    }

    /// An operation before this one cost the whole group its transaction.
    pub(super) fn rolled_back() -> Self {
        Cause::RolledBack.into()
    }

    /// The database was closed.
    pub(super) fn closed() -> Self {
        Cause::Closed.into()
    }

    /// The queue is full, so the operation was not run.
    pub(super) fn overloaded() -> Self {
        let retry_after = Duration::from_secs(1);
        Cause::Overloaded(Overloaded { retry_after }).into()
    }

    /// The caller dropped its future, so the operation was not run.
    pub(super) fn abandoned() -> Self {
        Cause::Abandoned.into()
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.0, Cause::Closed)
    }
}

/// What `run` gives, or an error when it panics.
pub(super) fn caught<T, E: From<SqliteError>>(run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let panicked = || SqliteError::from(Cause::PanicError).into();
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        // Dropping the payload could panic again.
        mem::forget(payload);
        Err(panicked())
    })
}

impl fmt::Display for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            // What rusqlite says of it would repeat the whole statement.
            Cause::Sqlite(rusqlite::Error::SqlInputError { msg, .. }) => f.write_str(msg),
            Cause::Sqlite(error) => error.fmt(f),
            Cause::Unusable(sentence) => f.write_str(sentence),
            Cause::Thread(error) => write!(f, "the database's threads do not start: {error}"),
            Cause::PanicError => f.write_str("the database operation panicked"),
            Cause::RolledBack => f.write_str("the transaction was rolled back"),
            Cause::Closed => f.write_str("the database is closed"),
            Cause::Overloaded(overloaded) => overloaded.fmt(f),
            Cause::Abandoned => f.write_str("the caller no longer waits for the operation"),
        }
    }
}

impl std::error::Error for SqliteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Cause::Sqlite(error) => error.source(),
            Cause::Thread(error) => error.source(),
            Cause::Overloaded(overloaded) => Some(overloaded),
            _ => None,
        }
    }
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

impl IntoFault for SqliteError {
    fn into_fault(self) -> Fault {
        Fault::new(self)
    }
}

impl IntoFault for rusqlite::Error {
    fn into_fault(self) -> Fault {
        SqliteError::from(self).into_fault()
    }
}
