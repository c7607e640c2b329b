//! Errors of Postgres.

use std::time::Duration;

use crate::driver_error::{ColumnError, DatabaseError};
use crate::error::{OverloadedError, impl_into_backend_error};
use crate::store::MigrationError;

/// Time after which a client may repeat an operation that did not run.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Error of Postgres or of the connection to it. `Display` and `Debug` return one sentence without values.
#[derive(thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub struct PostgresError(#[from] Cause);

#[derive(thiserror::Error)]
enum Cause {
    #[error(transparent)]
    Reported(Box<DatabaseError>),
    #[error("{0}")]
    Disconnected(String),
    #[error(transparent)]
    Migration(MigrationError),
    #[error("{0}")]
    Unusable(String),
    #[error("{0}")]
    Malformed(ColumnError),
    #[error("{0}")]
    NotRun(String, #[source] OverloadedError),
}

impl PostgresError {
    /// Error of a statement that was not sent to Postgres. The response of the API is 503 with `retry-after`.
    ///
    /// The log shows `reason`, which must not contain the values of parameters and rows.
    pub fn not_run(reason: impl ToString) -> Self {
        Cause::NotRun(reason.to_string(), OverloadedError::new(RETRY_AFTER)).into()
    }

    /// Error that Postgres reported for a statement.
    pub fn reported(error: DatabaseError) -> Self {
        Cause::Reported(error.into()).into()
    }

    /// Error of a connection that broke or did not respond after a statement was sent, so that its outcome is unknown.
    ///
    /// The log shows `reason`, which must not contain the values of parameters and rows.
    pub fn disconnected(reason: impl ToString) -> Self {
        Cause::Disconnected(reason.to_string()).into()
    }

    /// Error of a result that the driver cannot decode, of a pool that cannot be created, or of a database that the
    /// library cannot use.
    ///
    /// The log shows `reason`, which must not contain the values of parameters and rows.
    pub fn unusable(reason: impl ToString) -> Self {
        Cause::Unusable(reason.to_string()).into()
    }

    /// Returns the error of an operation that has no effect if it fails: a read, or a transaction whose `COMMIT` was
    /// not sent. If the same operation can succeed later, the result has an [`OverloadedError`] as its source, so that the
    /// response is a 503 with `retry-after` and the client repeats the request: for example after a failed connection, a time
    /// limit, a deadlock or a serialization failure, and while the server has no space left or accepts no writes.
    #[must_use]
    pub fn without_effect(self) -> Self {
        match &self.0 {
            Cause::Reported(error) if error.is_temporary() => Self::not_run(self),
            Cause::Disconnected(_) => Self::not_run(self),
            _ => self,
        }
    }

    /// Returns the error of a single statement. A statement for which Postgres reports an error, and keeps the
    /// connection, has no effect.
    pub(super) fn of_statement(self) -> Self {
        match &self.0 {
            Cause::Reported(error) if !error.is_fatal => self.without_effect(),
            _ => self,
        }
    }
}

display_debug!(PostgresError);
display_debug!(Cause);

impl From<ColumnError> for PostgresError {
    fn from(error: ColumnError) -> Self {
        Cause::Malformed(error).into()
    }
}

impl From<DatabaseError> for PostgresError {
    fn from(error: DatabaseError) -> Self {
        Self::reported(error)
    }
}

impl From<MigrationError> for PostgresError {
    fn from(error: MigrationError) -> Self {
        Cause::Migration(error).into()
    }
}

impl_into_backend_error!(PostgresError: PostgresError, DatabaseError);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::BoardError;

    #[test]
    fn an_operation_without_effect_that_can_succeed_later_is_a_503() {
        for (code, status) in [
            ("08006", 503), // connection
            ("25006", 503), // no writes
            ("40001", 503), // serialization failure
            ("40P01", 503), // deadlock
            ("53100", 503), // full disk
            ("55P03", 503), // lock timeout
            ("57014", 503), // statement timeout
            ("22P02", 500), // invalid text
            ("23505", 500), // unique constraint
            ("40003", 500), // the outcome is unknown
            ("42P01", 500), // no such table
        ] {
            let error = PostgresError::reported(DatabaseError::new(code, "")).without_effect();
            assert_eq!(BoardError::from(error).status(), status, "{code}");
        }
    }
}
