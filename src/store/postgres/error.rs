//! Errors of Postgres.

use std::error::Error;
use std::fmt;

use deadpool_postgres::{PoolError, TimeoutType};

use crate::error::{BackendError, IntoBackendError};
use crate::store::MigrationError;
use crate::store::sql::ColumnError;

/// Error of Postgres or of the connection to it. Prints as one sentence without parameters.
#[derive(thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub struct PostgresError(#[from] Cause);

#[derive(thiserror::Error)]
enum Cause {
    #[error("{}", describe_error(.0))]
    Postgres(tokio_postgres::Error),
    #[error(transparent)]
    Migration(MigrationError),
    #[error("{0}")]
    Unusable(String),
    #[error("{0}")]
    Malformed(ColumnError),
    #[error("timed out waiting for a free Postgres connection")]
    PoolTimeout,
    #[error("timed out connecting to Postgres")]
    ConnectTimeout,
}

impl PostgresError {
    /// Error of a pool that cannot be created.
    pub(super) fn unusable(reason: impl ToString) -> Self {
        Cause::Unusable(reason.to_string()).into()
    }
}

/// Returns the error as one sentence. Omits the details of an error of Postgres, because they contain values.
pub(crate) fn describe_error(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => format!("{} ({})", error.message(), error.code().code()),
        (None, Some(source)) => format!("{}: {source}", kind(error)),
        (None, None) => kind(error),
    }
}

/// Returns the kind of an error as a text, because the driver does not expose it as a value.
fn kind(error: &tokio_postgres::Error) -> String {
    match &*error.to_string() {
        "error connecting to server" => "cannot connect to Postgres".into(),
        "invalid connection string" => "invalid Postgres URL".into(),
        other => other.into(),
    }
}

impl fmt::Debug for PostgresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresError({self})")
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        Cause::Postgres(error).into()
    }
}

impl From<ColumnError> for PostgresError {
    fn from(error: ColumnError) -> Self {
        Cause::Malformed(error).into()
    }
}

impl From<MigrationError> for PostgresError {
    fn from(error: MigrationError) -> Self {
        Cause::Migration(error).into()
    }
}

impl From<PoolError> for PostgresError {
    fn from(error: PoolError) -> Self {
        Self(match error {
            PoolError::Backend(error) => Cause::Postgres(error),
            PoolError::Timeout(TimeoutType::Wait) => Cause::PoolTimeout,
            PoolError::Timeout(_) => Cause::ConnectTimeout,
            other => Cause::Unusable(other.to_string()),
        })
    }
}

impl IntoBackendError for PostgresError {
    fn into_backend_error(self) -> BackendError {
        BackendError::new(self)
    }
}

impl IntoBackendError for tokio_postgres::Error {
    fn into_backend_error(self) -> BackendError {
        PostgresError::from(self).into_backend_error()
    }
}

impl IntoBackendError for PoolError {
    fn into_backend_error(self) -> BackendError {
        PostgresError::from(self).into_backend_error()
    }
}
