//! A look at a database from outside, before anything is made in it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result};

/// Whether the SQLite database in this file has a board. Nothing is changed by asking.
pub fn holds_board(file: &Path) -> Result<bool> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let find = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'board_migrations')";
    connection.query_row(find, [], |row| row.get(0))
}
