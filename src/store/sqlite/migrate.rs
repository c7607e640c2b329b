//! Migrations: numbered steps, each applied once.

use rusqlite::{Connection, OptionalExtension, Result, Transaction, TransactionBehavior};

use super::SqliteError;
use crate::store::SchemaStatus;

/// Applies those of `steps` that the database does not have yet, and returns how many it had: 0 for a new one.
///
/// A step is SQL, of any number of statements; once published it is never changed, only followed by others. `table`
/// holds the numbers of the applied steps, from 1; its name is put into the SQL as it is. Everything happens in one
/// transaction: the one that the connection is in (which must be able to write, as that of
/// [`Database::write`](super::Database::write) is), or its own. So several processes may migrate at once.
///
/// # Errors
/// When a step fails, or the database has more steps than `steps`
/// ([`SchemaStatus::Newer`](crate::store::SchemaStatus::Newer)). Then nothing is applied.
pub fn migrate(
    connection: &Connection,
    table: &str,
    steps: &[&str],
) -> std::result::Result<u32, SqliteError> {
    if !connection.is_autocommit() {
        return apply(connection, table, steps);
    }
    // A database that is up to date is not locked for writing.
    let had = applied(connection, table)?;
    if SchemaStatus::new(had, known(steps)) == SchemaStatus::UpToDate {
        return Ok(had);
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let had = apply(&transaction, table, steps)?;
    transaction.commit()?;
    Ok(had)
}

/// Compares the steps that `table` holds with `steps`, which [`migrate`] would apply. Changes nothing.
///
/// # Errors
/// When the database cannot be read.
pub fn schema_status(connection: &Connection, table: &str, steps: &[&str]) -> Result<SchemaStatus> {
    let applied = applied(connection, table)?;
    Ok(SchemaStatus::new(applied, known(steps)))
}

fn apply(
    connection: &Connection,
    table: &str,
    steps: &[&str],
) -> std::result::Result<u32, SqliteError> {
    let had = applied(connection, table)?;
    if SchemaStatus::new(had, known(steps)) == SchemaStatus::Newer {
        return Err(SqliteError::newer_schema(had, known(steps)));
    }
    connection.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS {table} (step INTEGER PRIMARY KEY) STRICT"
    ))?;
    for sql in steps.iter().skip(had as usize) {
        connection.execute_batch(sql)?;
        connection.execute_batch(&format!("INSERT INTO {table} DEFAULT VALUES"))?;
    }
    Ok(had)
}

/// Number of the last applied step; 0 without the table.
fn applied(connection: &Connection, table: &str) -> Result<u32> {
    let exists = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let exists = connection.query_row(exists, [table], |_| Ok(()));
    if exists.optional()?.is_none() {
        return Ok(0);
    }
    let last = format!("SELECT coalesce(max(step), 0) FROM {table}");
    connection.query_row(&last, [], |row| row.get(0))
}

fn known(steps: &[&str]) -> u32 {
    u32::try_from(steps.len()).unwrap_or(u32::MAX)
}
