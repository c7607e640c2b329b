//! Reading and writing of a copy in SQLite.

use std::path::Path;

use forum_api::audit::AuditEntry;
use forum_api::host::BackendResult;
use forum_api::store::sqlite::apply_migrations;
use forum_api::store::sqlite_schema;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params_from_iter};
use tokio::sync::mpsc;

use super::row::{Batches, Checksum, Row, Value};
use super::tables::{IS_OFFLINE, LEFT_OUT, TAKE_OFFLINE, Table, TableColumns, quote};

use crate::board::schema;

/// Settings for the file of a copy, which is removed if the copy fails, and synced when it is complete.
const UNSAFE_PRAGMAS: &str = "
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA foreign_keys = OFF;
    PRAGMA cache_size = -32768;
    BEGIN EXCLUSIVE";

const INDEX_POSTS: &str = "
    INSERT INTO post_text (rowid, title, body, place)
    SELECT id, title, body, place FROM indexed_post ORDER BY id";

/// Opens a database and begins a read of its current state. Returns whether the board is offline.
pub fn open_source(path: &Path) -> BackendResult<(Connection, bool)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("BEGIN")?;
    let is_offline = connection.query_row(IS_OFFLINE, [], |row| row.get("is_offline"))?;
    Ok((connection, is_offline))
}

/// Creates the tables in an empty file, in a transaction that [`finish`] ends. Returns the statements that create the
/// indexes.
pub fn create_target(path: &Path) -> BackendResult<(Connection, Vec<String>)> {
    let connection = Connection::open(path)?;
    connection.execute_batch(UNSAFE_PRAGMAS)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    apply_migrations(&connection, &sqlite_schema::MIGRATIONS)?;
    apply_migrations(&connection, &schema::SQLITE)?;
    let find = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
    let indexes: Vec<(String, String)> = connection
        .prepare(find)?
        .query_map([], |row| Ok((row.get("name")?, row.get("sql")?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (name, _) in &indexes {
        connection.execute_batch(&format!("DROP INDEX {}", quote(name)))?;
    }
    let create_indexes = indexes.into_iter().map(|(_, sql)| sql).collect();
    Ok((connection, create_indexes))
}

/// Returns the tables that are copied.
pub fn tables(connection: &Connection) -> BackendResult<Vec<TableColumns>> {
    let find = "
        SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut names = connection
        .prepare(find)?
        .query_map([], |row| row.get("name"))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    names.retain(|name| !LEFT_OUT.contains(&&**name));
    let mut find_columns =
        connection.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0")?;
    names
        .into_iter()
        .map(|name| {
            let columns = find_columns
                .query_map([&name], |row| row.get("name"))?
                .collect::<rusqlite::Result<Vec<String>>>()?;
            Ok((name, columns))
        })
        .collect()
}

/// Returns the number of rows of all tables.
pub fn count(connection: &Connection, tables: &[Table]) -> BackendResult<u64> {
    let mut all: i64 = 0;
    for table in tables {
        let sql = format!("SELECT count(*) AS count FROM {}", table.quoted_name());
        all += connection.query_row(&sql, [], |row| row.get::<_, i64>("count"))?;
    }
    Ok(all.unsigned_abs())
}

/// Calls `each` for each row until it returns `false`.
fn read(
    connection: &Connection,
    table: &Table,
    mut each: impl FnMut(Row) -> bool,
) -> BackendResult<()> {
    let sql = format!("SELECT {} FROM {}", table.column_list(), table.quoted_name());
    let mut select = connection.prepare(&sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let columns = table.columns.iter().enumerate();
        let values =
            columns.map(|(place, (_, column))| Value::from_sqlite(row.get_ref(place)?, column));
        if !each(values.collect::<BackendResult<Row>>()?) {
            break;
        }
    }
    Ok(())
}

/// Sends all rows of a table, unless the receiver is gone. Returns their checksum.
pub fn read_batches(
    connection: &Connection,
    table: &Table,
    sender: &mpsc::Sender<Vec<Row>>,
) -> BackendResult<Checksum> {
    let mut batches = Batches::default();
    read(connection, table, |row| {
        let batch = batches.add(row);
        batch.is_none_or(|batch| sender.blocking_send(batch).is_ok())
    })?;
    let (last, checksum) = batches.finish();
    // The error of the writer is reported if the receiver is gone.
    sender.blocking_send(last).ok();
    Ok(checksum)
}

pub fn checksum(connection: &Connection, table: &Table) -> BackendResult<Checksum> {
    let mut sum = Checksum::default();
    read(connection, table, |row| {
        sum.add(&row);
        true
    })?;
    Ok(sum)
}

/// Returns the largest id that the table has had, if SQLite records it; otherwise the largest id.
pub fn last_id(connection: &Connection, table: &Table) -> BackendResult<Option<i64>> {
    let Some(identity) = &table.identity else {
        return Ok(None);
    };
    let find = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    let recorded = connection.query_row(find, [&table.name], |row| row.get("seq"));
    let find_largest =
        format!("SELECT max({}) AS last FROM {}", quote(identity), table.quoted_name());
    let largest: Option<i64> = connection.query_row(&find_largest, [], |row| row.get("last"))?;
    Ok(largest.max(recorded.optional()?))
}

/// Writes all rows of a table. Ids continue after `last_id` if SQLite records the largest id of the table.
pub fn write(
    connection: &Connection,
    table: &Table,
    mut batches: mpsc::Receiver<Vec<Row>>,
    last_id: Option<i64>,
) -> BackendResult<()> {
    let name = table.quoted_name();
    let columns = table.column_list();
    let places = vec!["?"; table.columns.len()].join(", ");
    let sql = format!("INSERT INTO {name} ({columns}) VALUES ({places})");
    let mut insert = connection.prepare(&sql)?;
    while let Some(batch) = batches.blocking_recv() {
        for row in batch {
            insert.execute(params_from_iter(row))?;
        }
    }
    let find = "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%'";
    let records = connection.query_row(find, [&table.name], |_| Ok(()));
    if let (Some(()), Some(last_id)) = (records.optional()?, last_id) {
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [&table.name])?;
        let record = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        connection.execute(record, (&table.name, last_id))?;
    }
    Ok(())
}

/// Indexes the posts for the search, and creates the indexes.
pub fn build_indexes(connection: &Connection, indexes: &[String]) -> BackendResult<()> {
    connection.execute_batch(INDEX_POSTS)?;
    for index in indexes {
        connection.execute_batch(index)?;
    }
    Ok(())
}

/// Takes the copy offline, writes the entry of the audit log and commits.
pub fn finish(connection: &Connection, entry: Vec<String>) -> BackendResult<()> {
    connection.execute_batch(TAKE_OFFLINE)?;
    connection.execute(AuditEntry::INSERT_SQL, params_from_iter(entry))?;
    Ok(connection.execute_batch("COMMIT")?)
}
