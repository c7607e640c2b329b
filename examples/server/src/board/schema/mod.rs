//! The board's tables: migrations for each backend.

use forum_api::host::BoardResult;
use forum_api::store::postgres;
use forum_api::store::postgres::tokio_postgres_0_7::{apply_migrations, migration_status};
use forum_api::store::{Migration, Migrations, SchemaStatus, sqlite, sqlite_schema};

use crate::board::db::{Connection, Driver, Transaction, bind};

/// Name of the table that records the applied migrations.
const TABLE: &str = "board_migrations";

pub(super) const SQLITE: Migrations = Migrations {
    table: TABLE,
    all: &[Migration { name: "0001_init", sql: include_str!("sqlite/0001_init.sql") }],
};

pub(super) const POSTGRES: Migrations = Migrations {
    table: TABLE,
    all: &[Migration { name: "0001_init", sql: include_str!("postgres/0001_init.sql") }],
};

/// Returns whether the database has a board.
pub async fn exists(connection: &Connection<'_>) -> BoardResult<bool> {
    has_table(connection, TABLE).await
}

async fn has_table(connection: &Connection<'_>, table: &'static str) -> BoardResult<bool> {
    let find = connection.dialect(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1) AS is_there",
        "SELECT to_regclass(?1) IS NOT NULL AS is_there",
    );
    connection.one(find, bind![table], |row| row.value("is_there")).await
}

/// Returns the names of the pending migrations of the library's and the board's tables.
pub async fn pending(connection: &Connection<'_>) -> BoardResult<Vec<String>> {
    let (library, board) = match connection.driver {
        Driver::Sqlite(_) => (sqlite_schema::MIGRATIONS, SQLITE),
        Driver::Postgres(_) => (postgres::MIGRATIONS, POSTGRES),
    };
    let mut names = Vec::new();
    for (owner, migrations, count) in [
        ("library", library, "SELECT count(*) AS applied FROM forum_api_migrations"),
        ("board", board, "SELECT count(*) AS applied FROM board_migrations"),
    ] {
        let applied = if has_table(connection, migrations.table).await? {
            connection.one(count, &[], |row| row.count("applied")).await?
        } else {
            0
        };
        let missing = migrations.all.iter().skip(applied);
        names.extend(missing.map(|migration| format!("{owner} {}", migration.name)));
    }
    Ok(names)
}

/// Compares the migrations of the database with those of this program.
pub async fn status(connection: &Connection<'_>) -> BoardResult<SchemaStatus> {
    Ok(match &connection.driver {
        Driver::Sqlite(sqlite) => sqlite::migration_status(sqlite, &SQLITE)?,
        Driver::Postgres(postgres) => migration_status(postgres.client(), &POSTGRES).await?,
    })
}

/// Applies the missing migrations. Returns the number of migrations that the database had before: 0 for a new one.
///
/// # Errors
/// If a migration fails, or the applied migrations are not those of this program. No migration is applied then.
pub async fn apply(tx: &Transaction<'_>) -> BoardResult<u32> {
    match &tx.driver {
        Driver::Sqlite(sqlite) => Ok(sqlite::apply_migrations(sqlite, &SQLITE)?),
        Driver::Postgres(postgres) => Ok(apply_migrations(postgres.client(), &POSTGRES).await?),
    }
}

/// Number of ids that a restore leaves out in each table, unless the replaced database has assigned more.
const GAP: i64 = 1_000_000;

/// Advances the ids of all tables of a restored SQLite database, so that ids of rows that the backup lacks are not
/// assigned again: by `GAP`, and past those that the `replaced` database has assigned, if it can be read.
pub fn leave_gap(
    restored: &rusqlite::Connection,
    replaced: Option<&rusqlite::Connection>,
) -> rusqlite::Result<()> {
    let find = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'";
    let find_last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
    let mut tables = restored.prepare(find)?;
    for table in tables.query_map([], |row| row.get::<_, String>(0))? {
        let table = table?;
        let last = |connection: &rusqlite::Connection| -> rusqlite::Result<i64> {
            connection.query_row(find_last, [&table], |row| row.get(0))
        };
        let assigned = replaced.and_then(|replaced| last(replaced).ok());
        let seq = last(restored)?.saturating_add(GAP).max(assigned.unwrap_or(0));
        restored.execute("DELETE FROM sqlite_sequence WHERE name = ?1", [&table])?;
        let insert = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        restored.execute(insert, (&table, seq))?;
    }
    Ok(())
}

/// The tables of a board, in SQLite.
#[cfg(test)]
pub fn in_memory() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    sqlite::apply_migrations(&connection, &SQLITE).unwrap();
    connection
}

#[cfg(test)]
mod tests {
    use super::{Migration, POSTGRES, SQLITE};

    /// Databases contain these checksums. A changed migration, even in a comment, is rejected at the next start.
    #[test]
    fn published_migrations_do_not_change() {
        let postgres = "b40c7deabc7e55aad5d4a7b79389471252115b72f5104b371a892c07a82570c2";
        let sqlite = "a9c50bd5d63643cc52119148bb78c91679596015ae20c2fdac30adc9059575f5";
        for (migrations, checksum) in [(POSTGRES, postgres), (SQLITE, sqlite)] {
            let checksums = migrations.all.iter().map(Migration::checksum);
            assert_eq!(checksums.collect::<Vec<_>>(), [checksum]);
        }
    }
}
