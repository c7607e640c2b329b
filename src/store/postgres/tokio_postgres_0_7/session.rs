//! Settings of a new connection.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, HookError};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, SimpleQueryMessage};

use super::error::NO_SESSION;
use crate::store::postgres::check::check_encoding;

/// Timeout of the wait for a free connection, for a new one to the only host, and for its first response.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings that the library needs, in place of the defaults of the database and the role. Keeps limits that the
/// address sets. A statement sets them, because PgBouncer refuses start-up options.
const BEGIN_SESSION: &str = include_str!("sql/begin_session.sql");

/// Limits [`BEGIN_SESSION`], which would otherwise have the default limit of the database or the role.
const LIMIT: &str = "SET statement_timeout = '10s';";

/// Prepares a new connection for the statements of the library. `has_limit` is true if the address limits statements.
pub(super) async fn begin_session(
    client: &ClientWrapper,
    has_limit: bool,
) -> Result<(), HookError> {
    let limit = if has_limit { "" } else { LIMIT };
    let sql = format!("{limit}{BEGIN_SESSION}");
    let begun = timeout(CONNECT_TIMEOUT, run_unless_canceled(client, &sql)).await;
    let messages =
        begun.map_err(|_| HookError::message(NO_SESSION))?.map_err(HookError::Backend)?;
    let encoding = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    check_encoding(encoding.unwrap_or_default())
        .map_err(|error| HookError::message(error.to_string()))
}

/// Runs statements, and again if Postgres cancels one of them: [`LIMIT`] itself has the default limit of the database or
/// the role, which can be a millisecond.
async fn run_unless_canceled(
    client: &ClientWrapper,
    sql: &str,
) -> Result<Vec<SimpleQueryMessage>, Error> {
    loop {
        match client.simple_query(sql).await {
            Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {}
            run => return run,
        }
    }
}
