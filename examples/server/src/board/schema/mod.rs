//! The board's tables: numbered migrations for each backend.

use forum_api::host::Result;
use forum_api::store::{SchemaStatus, sqlite};

use super::db::{self, Connection, Error, Transaction, bind};

/// Table of the numbers of the applied migrations, from 1.
const TABLE: &str = "board_migrations";

const SQLITE: &[&str] = &[include_str!("sqlite/1.sql")];

const POSTGRES: &[&str] = &[include_str!("postgres/1.sql")];

/// Returns whether the database has a board.
pub async fn is_there(connection: &Connection<'_>) -> db::Result<bool> {
    let find = connection.dialect(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)",
        "SELECT to_regclass(?1) IS NOT NULL",
    );
    connection.one(find, bind![TABLE], |row| row.value()).await
}

/// Compares the migrations of the database with those of this program.
pub async fn status(connection: &Connection<'_>) -> db::Result<SchemaStatus> {
    match connection {
        Connection::Sqlite(sqlite) => Ok(sqlite::schema_status(sqlite, TABLE, SQLITE)?),
        Connection::Postgres(_) => Ok(SchemaStatus::new(applied(connection).await?, LAST)),
    }
}

/// Applies the migrations that the database lacks, and returns how many it had: 0 for a new one.
///
/// # Errors
/// When a migration fails, or the database has more migrations than this program. Then none is applied.
pub async fn apply(tx: &Transaction<'_>) -> Result<u32> {
    if let Connection::Sqlite(sqlite) = &**tx {
        return Ok(sqlite::migrate(sqlite, TABLE, SQLITE)?);
    }
    let had = applied(tx).await?;
    if SchemaStatus::new(had, LAST) == SchemaStatus::Newer {
        return Err(Error::Invalid("the schema of the board is newer than this program").into());
    }
    tx.run("CREATE TABLE IF NOT EXISTS board_migrations (step INTEGER PRIMARY KEY)")
        .await?;
    for (number, sql) in (1_i64..).zip(POSTGRES).skip(had as usize) {
        tx.run(sql).await?;
        let note = "INSERT INTO board_migrations (step) VALUES (CAST(?1 AS BIGINT))";
        tx.change(note, bind![number]).await?;
    }
    Ok(had)
}

/// Number of the last migration for Postgres.
const LAST: u32 = POSTGRES.len() as u32;

/// Number of the last migration that a Postgres database has; 0 for a new one.
async fn applied(connection: &Connection<'_>) -> db::Result<u32> {
    if !is_there(connection).await? {
        return Ok(0);
    }
    let last = "SELECT CAST(coalesce(max(step), 0) AS BIGINT) FROM board_migrations";
    let last: i64 = connection.one(last, &[], |row| row.value()).await?;
    Ok(u32::try_from(last).unwrap_or(u32::MAX))
}

/// The tables of a board, in SQLite.
#[cfg(test)]
pub fn in_memory() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    sqlite::migrate(&connection, TABLE, SQLITE).unwrap();
    connection
}
