//! How Postgres fails.

use std::error::Error;
use std::fmt;

use deadpool_postgres::{PoolError, TimeoutType};

use crate::error::{Fault, IntoFault};

/// Why Postgres did not do what it was asked. It prints as one plain sentence, and without what was bound.
pub struct PostgresError(Cause);

enum Cause {
    Postgres(tokio_postgres::Error),
    Unusable(String),
    NoneFree,
    NoAnswer,
}

impl PostgresError {
    /// A pool cannot be made, as `sentence` says.
    pub(super) fn unusable(sentence: impl ToString) -> Self {
        Self(Cause::Unusable(sentence.to_string()))
    }
}

impl fmt::Display for PostgresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Postgres(error) => match (error.as_db_error(), error.source()) {
                // What Postgres adds as a detail shows values.
                (Some(error), _) => write!(f, "{} ({})", error.message(), error.code().code()),
                (None, Some(source)) => write!(f, "{error}: {source}"),
                (None, None) => error.fmt(f),
            },
            Cause::Unusable(sentence) => f.write_str(sentence),
            Cause::NoneFree => f.write_str("no connection to Postgres was free in time"),
            Cause::NoAnswer => f.write_str("Postgres did not answer in time"),
        }
    }
}

impl fmt::Debug for PostgresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresError({self})")
    }
}

impl Error for PostgresError {}

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self(Cause::Postgres(error))
    }
}

impl From<PoolError> for PostgresError {
    fn from(error: PoolError) -> Self {
        Self(match error {
            PoolError::Backend(error) => Cause::Postgres(error),
            PoolError::Timeout(TimeoutType::Wait) => Cause::NoneFree,
            PoolError::Timeout(_) => Cause::NoAnswer,
            other => Cause::Unusable(other.to_string()),
        })
    }
}

impl IntoFault for PostgresError {
    fn into_fault(self) -> Fault {
        Fault::new(self)
    }
}

impl IntoFault for tokio_postgres::Error {
    fn into_fault(self) -> Fault {
        PostgresError::from(self).into_fault()
    }
}

impl IntoFault for PoolError {
    fn into_fault(self) -> Fault {
        PostgresError::from(self).into_fault()
    }
}
