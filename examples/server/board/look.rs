//! A look at a database from outside, before anything is made in it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result};

use super::MIGRATIONS;

/// Whether the database in this file has a board. Nothing is changed by asking.
pub fn holds_board(file: &Path) -> Result<bool> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    is_there(&connection)
}

/// Whether this database has a board.
pub fn is_there(connection: &Connection) -> Result<bool> {
    let find = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)";
    connection.query_row(find, [MIGRATIONS], |row| row.get(0))
}

/// How many steps of the board's schema this database has.
pub fn steps(connection: &Connection) -> Result<u32> {
    if !is_there(connection)? {
        return Ok(0);
    }
    let count = format!("SELECT count(*) FROM {MIGRATIONS}");
    connection.query_row(&count, [], |row| row.get(0))
}
