//! Schemas in steps, each applied once.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Applies those of `steps` that the database does not have yet, and gives how many it had: 0 for a new one.
///
/// A step is SQL, of any number of statements; once published it is never changed, only followed by others. Which
/// were applied is kept in `table`, whose name is put into the SQL as it is. All of it is one transaction: the one
/// that the connection is in (which has to be able to write, as that of [`Database::write`](super::Database::write)
/// is), or its own. So it is safe when two processes start at once.
///
/// # Errors
/// When a step fails; then none was applied.
pub fn migrate(connection: &Connection, table: &str, steps: &[&str]) -> rusqlite::Result<u32> {
    if !connection.is_autocommit() {
        return apply(connection, table, steps);
    }
    // A database that is up to date is not locked for writing.
    if let Ok(had) = count(connection, table)
        && had as usize >= steps.len()
    {
        return Ok(had);
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let had = apply(&transaction, table, steps)?;
    transaction.commit()?;
    Ok(had)
}

fn apply(connection: &Connection, table: &str, steps: &[&str]) -> rusqlite::Result<u32> {
    connection.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS {table} (step INTEGER PRIMARY KEY) STRICT"
    ))?;
    let had = count(connection, table)?;
    for sql in steps.iter().skip(had as usize) {
        connection.execute_batch(sql)?;
        connection.execute_batch(&format!("INSERT INTO {table} DEFAULT VALUES"))?;
    }
    Ok(had)
}

fn count(connection: &Connection, table: &str) -> rusqlite::Result<u32> {
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
        row.get(0)
    })
}
