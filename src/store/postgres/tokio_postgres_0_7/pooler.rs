//! Check of a connection pooler between the program and Postgres.

use std::time::Duration;

use deadpool_postgres::{Client, Pool, PoolError, TimeoutType, Timeouts};
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::error::NO_SESSION;
use super::session::CONNECT_TIMEOUT;
use crate::store::postgres::PostgresError;

/// Selects whether a pooler is between the program and Postgres. A pooler sets the application name with a statement;
/// without a pooler it is a start-up option.
const IS_POOLED: &str =
    "SELECT source = 'session' FROM pg_settings WHERE name = 'application_name'";

/// Selects two columns: the number of prepared statements of the session that have the text of this one and a name of
/// the driver, and an unsuitable default setting of the database or the role.
const CHECK: &str = include_str!("sql/check_pooler.sql");

/// Error of a pooler that does not support prepared statements.
const UNPREPARED: &str = "the connection pooler does not support prepared statements in transaction mode; PgBouncer \
                          supports them since version 1.21, with max_prepared_statements above 0";

/// Errors of a pooler that does not track prepared statements: the statement was prepared in another session, or
/// another client already uses its name in this session.
const UNPREPARED_CODES: [SqlState; 2] =
    [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT];

/// Checks a pool whose connections pass a connection pooler such as PgBouncer: opens all connections that are not in
/// use, so that they are open at the same time, and runs a prepared statement on each. Without a connection pooler,
/// only reads a setting.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, or if the pooler
/// - is in session mode and has too few connections to Postgres, so that a connection gets no response within 5 s,
/// - does not support prepared statements in transaction mode, or
/// - is in transaction mode, and the database or the role has a default isolation level other than `READ COMMITTED` or
///   a timeout below 10 s.
pub async fn check_pooler(pool: &Pool) -> Result<(), PostgresError> {
    let first = pool.get().await?;
    if !respond(first.query_one(IS_POOLED, &[])).await?.try_get(0)? {
        return Ok(());
    }
    let mut clients = vec![first];
    let idle = Timeouts { wait: Some(Duration::ZERO), ..pool.timeouts() };
    loop {
        match pool.timeout_get(&idle).await {
            Ok(client) => clients.push(client),
            Err(PoolError::Timeout(TimeoutType::Wait)) => break,
            Err(error) => return Err(error.into()),
        }
    }
    for client in &clients {
        check_session(client).await?;
    }
    Ok(())
}

async fn check_session(client: &Client) -> Result<(), PostgresError> {
    let check = async {
        let statement = client.prepare_cached(CHECK).await?;
        client.query_one(&statement, &[]).await
    };
    let session = respond(check).await?;
    let prepared: i64 = session.try_get(0)?;
    let unsuitable: Option<&str> = session.try_get(1)?;
    match (prepared, unsuitable) {
        // In transaction mode PgBouncer replaces the names of statements.
        (0, Some(setting)) => Err(PostgresError::unusable(format_args!(
            "the connection pooler is in transaction mode, and the database or the role has the default {setting}; \
             change it to 'read committed', or a timeout to at least 10s, with ALTER DATABASE or ALTER ROLE"
        ))),
        (0 | 1, _) => Ok(()),
        _ => Err(PostgresError::unusable(UNPREPARED)),
    }
}

/// Waits for the response to a query, for at most [`CONNECT_TIMEOUT`].
async fn respond(
    query: impl Future<Output = Result<Row, tokio_postgres::Error>>,
) -> Result<Row, PostgresError> {
    let Ok(response) = timeout(CONNECT_TIMEOUT, query).await else {
        return Err(PostgresError::unusable(NO_SESSION));
    };
    response.map_err(|error| match error.code() {
        Some(code) if UNPREPARED_CODES.contains(code) => PostgresError::unusable(UNPREPARED),
        _ => error.into(),
    })
}
