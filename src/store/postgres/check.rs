//! Checks of the sessions of a driver before the library uses them.

use super::execute::PostgresExecutor;
use super::{PostgresDriver, PostgresError};
use crate::store::sql::Columns;

const CHECK_SESSION: &str = include_str!("sql/check_session.sql");

/// Checks the sessions of a driver that the library does not set up itself, for example of the host's pool. Call it
/// once when the program starts, before the stores are used.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, or if
/// - the encoding of the database is not UTF8,
/// - the isolation level of a statement is not `READ COMMITTED`, or
/// - a time limit of the session, such as `statement_timeout`, is below 10 s. No limit (0) is allowed.
pub async fn check_session(driver: &(impl PostgresDriver + Clone)) -> Result<(), PostgresError> {
    let executor = PostgresExecutor::for_schema(driver);
    let read = |row: &dyn Columns| {
        let encoding: String = row.value("encoding")?;
        let isolation: String = row.value("isolation")?;
        Ok((encoding, isolation, row.optional::<String>("short_limit")?))
    };
    let session = executor.read(CHECK_SESSION, &[], read).await?;
    let Some((encoding, isolation, short_limit)) = session.into_iter().next() else {
        return Err(PostgresError::unusable("the settings of the session cannot be read"));
    };
    check_encoding(&encoding)?;
    check_isolation(&isolation)?;
    match short_limit {
        None => Ok(()),
        Some(limit) => Err(PostgresError::unusable(format_args!(
            "the session has {limit}; set the limit to at least 10s or to 0"
        ))),
    }
}

/// Fails if the encoding of a database is not UTF8.
pub(super) fn check_encoding(encoding: &str) -> Result<(), PostgresError> {
    if encoding == "UTF8" {
        return Ok(());
    }
    Err(PostgresError::unusable(format_args!(
        "the encoding of the database is {encoding}; create the database with the encoding UTF8"
    )))
}

/// Fails if the default isolation level of a connection is not `READ COMMITTED`.
pub(super) fn check_isolation(isolation: &str) -> Result<(), PostgresError> {
    if isolation == "read committed" {
        return Ok(());
    }
    Err(PostgresError::unusable(format_args!(
        "the default isolation level of the connection is {isolation}; set default_transaction_isolation to \
         'read committed'"
    )))
}
