//! Errors of queries.

use deadpool_postgres::PoolError;
use forum_api::host::{BackendError, BoardError};
use forum_api::store::postgres::PostgresError;
use forum_api::store::sqlite::SqliteError;

/// Result of a query.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of a query.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    /// A statement or a stored value is invalid.
    #[error("{0}")]
    Invalid(&'static str),
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

impl From<Error> for BoardError {
    fn from(error: Error) -> Self {
        Self::internal(error)
    }
}

impl From<Error> for BackendError {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}
