//! How the database fails.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::store::SchemaStatus;

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
    Panicked,
    RolledBack,
    Closed,
}

impl SqliteError {
    /// The place holds no database that can be used, as `sentence` says.
    pub(super) fn unusable(sentence: String) -> Self {
        Cause::Unusable(sentence).into()
    }

    /// A newer program migrated the database.
    pub(super) fn newer_schema(applied: u32, known: u32) -> Self {
        Self::unusable(SchemaStatus::newer_message(applied, known))
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

    /// Nobody works on the database any more.
    pub(super) fn closed() -> Self {
        Cause::Closed.into()
    }
}

/// What `run` gives, or an error when it panics.
pub(super) fn caught<T, E: From<SqliteError>>(run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let panicked = || SqliteError::from(Cause::Panicked).into();
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(panicked()))
}

impl fmt::Display for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            // What rusqlite says of it would repeat the whole statement.
            Cause::Sqlite(rusqlite::Error::SqlInputError { msg, .. }) => f.write_str(msg),
            Cause::Sqlite(error) => error.fmt(f),
            Cause::Unusable(sentence) => f.write_str(sentence),
            Cause::Thread(error) => write!(f, "the database's threads do not start: {error}"),
            Cause::Panicked => f.write_str("the database operation panicked"),
            Cause::RolledBack => f.write_str("the transaction was rolled back"),
            Cause::Closed => f.write_str("the database is closed"),
        }
    }
}

impl std::error::Error for SqliteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Cause::Sqlite(error) => error.source(),
            Cause::Thread(error) => error.source(),
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

failures!(SqliteError: rusqlite::Error);
