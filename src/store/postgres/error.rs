//! Errors of Postgres.

use std::error::Error;
use std::io;
use std::time::Duration;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::{WasNull, WrongType};

use crate::error::{OverloadedError, impl_into_backend_error};
use crate::store::MigrationError;
use crate::store::sql::ColumnError;

/// Time after which a client may repeat an operation that did not run.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Error of a connection whose first statement gets no response.
pub(super) const NO_SESSION: &str = "a new connection to Postgres does not respond within 5 s; a pooler such as \
                                     PgBouncer in session mode needs a pool_size of at least the sum of the \
                                     connections of all processes";

/// Error of Postgres or of the connection to it. `Display` and `Debug` return one sentence without values.
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
    #[error("{0}")]
    NotRun(String, #[source] OverloadedError),
}

impl PostgresError {
    /// Error of a pool that cannot be created.
    pub(super) fn unusable(reason: impl ToString) -> Self {
        Cause::Unusable(reason.to_string()).into()
    }

    /// Error of an operation that did not run.
    pub(super) fn not_run(reason: impl ToString) -> Self {
        Cause::NotRun(reason.to_string(), OverloadedError::new(RETRY_AFTER)).into()
    }

    /// Returns the error of an operation that has no effect if it fails: a read, or a transaction whose `COMMIT` was
    /// not sent. If the connection failed or a time limit ended the statement, the result has an [`OverloadedError`] as
    /// its source, so that the response is a 503 with `retry-after` and the client repeats the request.
    #[must_use]
    pub fn without_effect(self) -> Self {
        match &self.0 {
            Cause::Postgres(error) if is_temporary(error) => Self::not_run(self),
            _ => self,
        }
    }
}

/// SQLSTATE codes and classes of failures after which the same statement can succeed.
const TEMPORARY: [&str; 9] = [
    "08",    // connection
    "57",    // timeout of a statement, shutdown
    "0A000", // a statement that was prepared before the type of a column changed
    "25006", // a server that accepts no writes
    "25P03", // timeout of the wait for the next statement of a transaction
    "53100", // full disk
    "53200", // memory
    "53300", // too many connections
    "55P03", // timeout of a lock
];

/// Returns `true` if the connection broke, or the server reported one of the [`TEMPORARY`] failures.
fn is_temporary(error: &tokio_postgres::Error) -> bool {
    let is_io = error.source().is_some_and(|source| source.is::<io::Error>());
    let code = error.code().map_or("", SqlState::code);
    is_io || error.is_closed() || TEMPORARY.iter().any(|class| code.starts_with(class))
}

/// Codes and classes of errors of Postgres whose messages contain no values of rows and parameters. They can contain
/// names of tables, columns, constraints, files, users, databases and statements.
const WITHOUT_VALUES: [&str; 20] = [
    "08",    // connection
    "23",    // constraint: the row is in the detail
    "25",    // state of the transaction, such as read-only
    "26",    // name of a prepared statement
    "28",    // password or user
    "3D",    // name of a database
    "3F",    // name of a schema
    "40",    // deadlock or serialization failure
    "53",    // full disk, memory, connections
    "57",    // timeout, shutdown
    "58",    // files of the server
    "42501", // permission
    "42703", // name of a column
    "42883", // name of a function and types
    "42P01", // name of a table
    "42P05", // name of a prepared statement
    "55006", // object in use
    "55P03", // lock timeout
    "XX001", // corrupt page of a file
    "XX002", // corrupt index
];

/// Routine of Postgres that raises the errors of functions in PL/pgSQL. All their fields can contain values.
const RAISE: &str = "exec_stmt_raise";

/// Returns the error as one sentence without values.
pub(crate) fn describe_error(error: &tokio_postgres::Error) -> String {
    let kind = kind(error);
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => describe_db_error(error),
        (None, Some(source)) if has_no_values(&kind, source) => format!("{kind}: {source}"),
        (None, _) => kind,
    }
}

/// Returns whether the text of a driver error's source contains no values. If the conversion of a value fails, the
/// source can be an error of any type.
fn has_no_values(kind: &str, source: &(dyn Error + 'static)) -> bool {
    let is_conversion =
        kind.starts_with("error serializing") || kind.starts_with("error deserializing");
    !is_conversion || source.is::<WrongType>() || source.is::<WasNull>()
}

/// Returns the message and the code if the message contains no values, otherwise the code and the names of objects.
pub(crate) fn describe_db_error(error: &DbError) -> String {
    let code = error.code().code();
    let routine = error.routine();
    let is_raised = routine == Some(RAISE);
    if !is_raised && WITHOUT_VALUES.iter().any(|safe| code.starts_with(safe)) {
        return format!("{} ({code})", error.message());
    }
    let names =
        [("table", error.table()), ("column", error.column()), ("constraint", error.constraint())];
    let named = names.into_iter().filter(|_| !is_raised);
    let parts = named
        .chain([("routine", routine)])
        .filter_map(|(object, name)| name.map(|name| format!(", {object} {name}")));
    format!("Postgres error {code}{}", parts.collect::<String>())
}

/// Returns the kind of an error as a text, because the driver does not expose it as a value.
fn kind(error: &tokio_postgres::Error) -> String {
    match &*error.to_string() {
        "error connecting to server" => "cannot connect to Postgres".into(),
        "invalid connection string" => "invalid Postgres URL".into(),
        other => other.into(),
    }
}

display_debug!(PostgresError);
display_debug!(Cause);

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

impl_into_backend_error!(PostgresError: PostgresError, tokio_postgres::Error, PoolError);
