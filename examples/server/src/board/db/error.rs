//! Errors of queries.

use deadpool_postgres::PoolError;
use forum_api::host::{BackendError, BoardError};
use forum_api::store::postgres::PostgresError;
use forum_api::store::sqlite::SqliteError;

/// Result of a query.
pub type DbResult<T> = std::result::Result<T, DbError>;

/// Error of a query.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    /// A statement or a stored value is invalid, or the disk of the database is full.
    #[error("{0}")]
    Invalid(&'static str),
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.into())
    }
}

impl From<tokio_postgres::Error> for DbError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error.into())
    }
}

impl From<PoolError> for DbError {
    fn from(error: PoolError) -> Self {
        Self::Postgres(error.into())
    }
}

impl From<DbError> for BoardError {
    fn from(error: DbError) -> Self {
        Self::internal(error)
    }
}

impl From<DbError> for BackendError {
    fn from(error: DbError) -> Self {
        Self::new(error)
    }
}
