//! Conversion of the errors of `tokio-postgres` and `deadpool-postgres`.

use std::error::Error;
use std::io;

use deadpool_postgres::{HookError, PoolError, TimeoutType};

use crate::driver_error::tokio_postgres::describe;
use crate::error::impl_into_backend_error;
use crate::store::postgres::PostgresError;

/// Error of a connection whose first statement gets no response.
pub(super) const NO_SESSION: &str = "a new connection to Postgres does not respond within 5 s; a pooler such as \
                                     PgBouncer in session mode needs a pool_size of at least the sum of the \
                                     connections of all processes";

impl From<tokio_postgres::Error> for PostgresError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(reported) = error.as_db_error() {
            return Self::reported(reported.into());
        }
        let text = describe(&error);
        let is_io = error.source().is_some_and(|source| source.is::<io::Error>());
        if is_io || error.is_closed() { Self::disconnected(text) } else { Self::unusable(text) }
    }
}

impl From<PoolError> for PostgresError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                Self::not_run(describe(&error))
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
