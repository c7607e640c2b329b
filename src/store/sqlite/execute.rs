//! Execution of statements, which are prepared once for each connection.

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Params, ToSql, params_from_iter};

use super::SqliteError;
use super::columns::NamedColumns;
use crate::audit::AuditEntry;
use crate::store::sql::{ColumnResult, Columns, Value};

pub(super) type Result<T> = std::result::Result<T, SqliteError>;

/// Returns the number of rows that the statement changed, without those of triggers.
pub(super) fn change(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    Ok(connection.prepare_cached(sql)?.execute(params)?)
}

/// Returns `true` if the statement changed a row.
pub(super) fn changes(connection: &Connection, sql: &str, params: impl Params) -> Result<bool> {
    Ok(change(connection, sql, params)? > 0)
}

/// Runs a statement that changes rows, and writes `audit` if the statement changes at least one row. Returns the number
/// of changed rows.
pub(super) fn change_audited(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    audit: &AuditEntry,
) -> Result<u64> {
    let count = change(connection, sql, params)? as u64;
    if count > 0 {
        let entry = params_from_iter(audit.insert_parameters(count));
        change(connection, AuditEntry::INSERT_SQL, entry)?;
    }
    Ok(count)
}

/// Decodes the first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&dyn Columns) -> ColumnResult<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    Ok(rows.next()?.map(|row| read(&NamedColumns::of(row))).transpose()?)
}

/// Decodes all rows.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&dyn Columns) -> ColumnResult<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut decoded = Vec::new();
    while let Some(row) = rows.next()? {
        decoded.push(read(&NamedColumns::of(row))?);
    }
    Ok(decoded)
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Integer(number) => number.to_sql(),
            Self::Boolean(value) => value.to_sql(),
            Self::Text(text) => text.to_sql(),
            Self::Bytes(bytes) => bytes.to_sql(),
        }
    }
}
