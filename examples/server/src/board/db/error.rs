//! How a query fails.

use std::fmt;

use deadpool_postgres::PoolError;
use forum_api::host::{Fault, Refusal};
use forum_api::store::postgres::PostgresError;
use forum_api::store::sqlite::SqliteError;

/// What a query gives.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the database did not do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// SQLite's reason.
    Sqlite(SqliteError),
    /// Postgres's reason.
    Postgres(PostgresError),
    /// The board asked for something that is not so.
    Wrong(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => error.fmt(f),
            Self::Postgres(error) => error.fmt(f),
            Self::Wrong(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(error) => error.source(),
            Self::Postgres(error) => error.source(),
            Self::Wrong(_) => None,
        }
    }
}

impl From<SqliteError> for Error {
    fn from(error: SqliteError) -> Self {
        Self::Sqlite(error)
    }
}

impl From<PostgresError> for Error {
    fn from(error: PostgresError) -> Self {
        Self::Postgres(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.into())
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error.into())
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        Self::Postgres(error.into())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::failed(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}
