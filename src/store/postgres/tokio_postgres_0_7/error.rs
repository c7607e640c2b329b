//! Conversion of the errors of `tokio-postgres` and `deadpool-postgres`.

use std::error::Error;
use std::io;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::error::{DbError, Severity};
use tokio_postgres::types::{WasNull, WrongType};

use crate::error::impl_into_backend_error;
use crate::store::postgres::{DatabaseError, PostgresError};

/// Error of a connection whose first statement gets no response.
pub(super) const NO_SESSION: &str = "a new connection to Postgres does not respond within 5 s; a pooler such as \
                                     PgBouncer in session mode needs a pool_size of at least the sum of the \
                                     connections of all processes";

/// Returns the error as one sentence without values.
pub(crate) fn describe_error(error: &tokio_postgres::Error) -> String {
    let kind = kind(error);
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => describe_db_error(error),
        (None, Some(source)) if has_no_values(&kind, source) => format!("{kind}: {source}"),
        (None, _) => kind,
    }
}

/// Returns the error as one sentence without values.
pub(crate) fn describe_db_error(error: &DbError) -> String {
    DatabaseError::from(error).to_string()
}

/// Returns whether the text of a driver error's source contains no values. If the conversion of a value fails, the
/// source can be an error of any type.
fn has_no_values(kind: &str, source: &(dyn Error + 'static)) -> bool {
    let is_conversion =
        kind.starts_with("error serializing") || kind.starts_with("error deserializing");
    !is_conversion || source.is::<WrongType>() || source.is::<WasNull>()
}

/// Returns the kind of an error as a text, because the driver does not expose it as a value.
fn kind(error: &tokio_postgres::Error) -> String {
    match &*error.to_string() {
        "error connecting to server" => "cannot connect to Postgres".into(),
        "invalid connection string" => "invalid Postgres URL".into(),
        other => other.into(),
    }
}

impl From<&DbError> for DatabaseError {
    fn from(error: &DbError) -> Self {
        let mut converted = Self::new(error.code().code(), error.message());
        converted.is_fatal = error.parsed_severity() != Some(Severity::Error);
        converted.table = error.table().map(Into::into);
        converted.column = error.column().map(Into::into);
        converted.constraint = error.constraint().map(Into::into);
        converted.routine = error.routine().map(Into::into);
        converted
    }
}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(reported) = error.as_db_error() {
            return Self::reported(reported.into());
        }
        let text = describe_error(&error);
        let is_io = error.source().is_some_and(|source| source.is::<io::Error>());
        if is_io || error.is_closed() { Self::disconnected(text) } else { Self::unusable(text) }
    }
}

impl From<PoolError> for PostgresError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                Self::not_run(describe_error(&error))
            }
            PoolError::PostCreateHook(HookError::Message(reason)) if reason == NO_SESSION => {
                Self::not_run(reason)
            }
            PoolError::PostCreateHook(HookError::Message(reason)) => Self::unusable(reason),
            PoolError::Timeout(TimeoutType::Wait) => {
                Self::not_run("timed out waiting for a free Postgres connection")
            }
            PoolError::Timeout(_) => Self::not_run("timed out connecting to Postgres"),
            other => Self::unusable(other),
        }
    }
}

impl_into_backend_error!(PostgresError: tokio_postgres::Error, PoolError);
