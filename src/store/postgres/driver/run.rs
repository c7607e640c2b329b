//! How statements are run: prepared once a connection, one at a time and each a transaction of its own.

use deadpool_postgres::{Client, Pool};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement as Prepared};

use super::PostgresError;
use crate::error::Stored;
use crate::store::postgres::Statement;

/// How many rows the statement changed.
pub(super) async fn change(pool: &Pool, statement: Statement) -> Stored<u64> {
    let (client, prepared) = ready(pool, statement.sql).await?;
    Ok(client.execute(&prepared, &bound(&statement)).await?)
}

/// Whether the statement changed a row.
pub(super) async fn changes(pool: &Pool, statement: Statement) -> Stored<bool> {
    Ok(change(pool, statement).await? > 0)
}

/// The rows that the statement gives.
async fn rows(pool: &Pool, statement: Statement) -> Result<Vec<Row>, PostgresError> {
    let (client, prepared) = ready(pool, statement.sql).await?;
    Ok(client.query(&prepared, &bound(&statement)).await?)
}

/// Every row that the statement gives, as `read` reads it.
pub(super) async fn all<T>(
    pool: &Pool,
    statement: Statement,
    read: impl Fn(&[&str]) -> Stored<T>,
) -> Stored<Vec<T>> {
    let rows = rows(pool, statement).await?;
    rows.iter().map(|row| read(&columns(row)?)).collect()
}

/// The first row, if there is one.
pub(super) async fn first<T>(
    pool: &Pool,
    statement: Statement,
    read: impl Fn(&[&str]) -> Stored<T>,
) -> Stored<Option<T>> {
    Ok(all(pool, statement, read).await?.into_iter().next())
}

/// All rows together, as `read` reads them.
pub(super) async fn together<T>(
    pool: &Pool,
    statement: Statement,
    read: impl FnOnce(&[Vec<&str>]) -> Stored<T>,
) -> Stored<T> {
    let rows = rows(pool, statement).await?;
    let rows = rows.iter().map(columns).collect::<Result<Vec<_>, _>>()?;
    read(&rows)
}

/// A connection that knows the statement. The log gets that as it is written, without what is bound to it.
async fn ready(pool: &Pool, sql: &str) -> Result<(Client, Prepared), PostgresError> {
    tracing::trace!(sql, "run");
    let client = pool.get().await?;
    let prepared = client.prepare_cached(sql).await?;
    Ok((client, prepared))
}

fn bound(statement: &Statement) -> Vec<&(dyn ToSql + Sync)> {
    let parameters = statement.parameters.iter();
    parameters.map(|text| text as _).collect()
}

/// A null is the empty text.
fn columns(row: &Row) -> Result<Vec<&str>, PostgresError> {
    let text = |place| row.try_get::<_, Option<&str>>(place);
    let columns = (0..row.len()).map(|place| Ok(text(place)?.unwrap_or_default()));
    columns.collect()
}
