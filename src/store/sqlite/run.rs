//! How statements are run: prepared once a connection.

use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

/// How many rows the statement changed, its triggers aside.
pub(super) fn change(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    connection.prepare_cached(sql)?.execute(params)
}

/// Whether the statement changed a row.
pub(super) fn changes(connection: &Connection, sql: &str, params: impl Params) -> Result<bool> {
    Ok(change(connection, sql, params)? > 0)
}

/// The first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row(params, read).optional()
}

/// Every row.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map(params, read)?.collect()
}
