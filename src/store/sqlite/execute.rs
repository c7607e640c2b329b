//! Execution of statements, which are prepared once for each connection.

use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

use crate::store::report_unreadable;

/// Returns the number of rows that the statement changed, without those of triggers.
pub(super) fn change(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    connection.prepare_cached(sql)?.execute(params)
}

/// Returns `true` if the statement changed a row.
pub(super) fn changes(connection: &Connection, sql: &str, params: impl Params) -> Result<bool> {
    Ok(change(connection, sql, params)? > 0)
}

/// Decodes the first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row(params, read).optional()
}

/// Decodes all rows.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map(params, read)?.collect()
}

/// Decodes the rows that can be decoded. Reports the others by their column `id`.
pub(super) fn readable<T>(
    connection: &Connection,
    table: &'static str,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let rows = all(connection, sql, params, |row| match read(row) {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            report_unreadable(table, &lossy_text(row, "id")?, &error.to_string());
            Ok(None)
        }
    })?;
    Ok(rows.into_iter().flatten().collect())
}

/// Reads a text that may be malformed.
pub(super) fn lossy_text(row: &Row<'_>, column: &str) -> Result<String> {
    let bytes = row.get_ref(column)?.as_bytes()?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
