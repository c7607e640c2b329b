//! Migrations of SQLite databases.

use std::sync::{Arc, Barrier};
use std::thread;

use forum_api::store::sqlite::rusqlite::Connection;
use forum_api::store::sqlite::{
    Database, DatabasePath, SqliteError, apply_migrations, migration_status,
};
use forum_api::store::{Migration, Migrations, SchemaStatus, sqlite_schema};

use crate::fixture::{file, path, temp_database};

const fn migration(name: &'static str, sql: &'static str) -> Migration {
    Migration { name, sql }
}

/// Returns the first migrations of a table of notes. Each inserts one note.
pub(crate) const fn notes(count: usize) -> Migrations {
    const ALL: &[Migration] = &[
        migration(
            "0001_init",
            "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('first')",
        ),
        migration("0002_second", "INSERT INTO notes VALUES ('second')"),
        migration("0003_third", "INSERT INTO notes VALUES ('third')"),
    ];
    Migrations { table: "note_migrations", all: ALL.split_at(count).0 }
}

pub(crate) fn count(connection: &Connection) -> Result<u32, SqliteError> {
    Ok(connection.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))?)
}

pub(crate) async fn migrate_in(
    database: &Database,
    migrations: Migrations,
) -> Result<u32, SqliteError> {
    database.write(move |savepoint| apply_migrations(savepoint, &migrations)).await
}

#[tokio::test]
async fn each_migration_is_applied_once() {
    let database = Database::open(&DatabasePath::Memory).unwrap();
    for (known, applied) in [(2, 0), (2, 2), (3, 2), (3, 3)] {
        assert_eq!(migrate_in(&database, notes(known)).await.unwrap(), applied);
    }
    assert_eq!(database.read(count).await.unwrap(), 3);
}

#[tokio::test]
async fn a_failed_migration_rolls_back_all() {
    let (directory, database) = temp_database();
    const SECOND: Migration = migration("0002_second", "INSERT INTO missing VALUES (1)");
    const BROKEN: Migrations =
        Migrations { table: "note_migrations", all: &[notes(1).all[0], SECOND] };
    let connection = Connection::open(path(&directory)).unwrap();
    for failed in [migrate_in(&database, BROKEN).await, apply_migrations(&connection, &BROKEN)] {
        let error = failed.unwrap_err().to_string();
        assert!(error.starts_with("no such table: missing"), "{error}");
    }
    assert_eq!(migrate_in(&database, notes(3)).await.unwrap(), 0);
    assert_eq!(count(&connection).unwrap(), 3);
}

#[test]
fn concurrent_processes_apply_each_migration_once() {
    for applied_before in [0, 1].repeat(20) {
        let directory = tempfile::tempdir().unwrap();
        let connection = Connection::open(path(&directory)).unwrap();
        apply_migrations(&connection, &notes(applied_before)).unwrap();
        let together = Arc::new(Barrier::new(2));
        let threads = [0, 1].map(|_| {
            let path = path(&directory);
            let together = together.clone();
            thread::spawn(move || {
                let connection = Connection::open(path).unwrap();
                together.wait();
                apply_migrations(&connection, &notes(3)).unwrap()
            })
        });
        let mut applied = threads.map(|thread| thread.join().unwrap());
        applied.sort_unstable();
        assert_eq!(applied, [applied_before as u32, 3]);
        assert_eq!(count(&connection).unwrap(), 3);
    }
}

#[tokio::test]
async fn a_newer_or_changed_schema_is_refused_and_left_unchanged() {
    let connection = Connection::open_in_memory().unwrap();
    apply_migrations(&connection, &notes(2)).unwrap();
    for (known, expected) in
        [(1, SchemaStatus::Newer), (2, SchemaStatus::UpToDate), (3, SchemaStatus::Pending)]
    {
        let status = migration_status(&connection, &notes(known)).unwrap();
        assert_eq!(status, expected);
    }
    const OTHER_NAME: Migration = migration("0002_renamed", notes(2).all[1].sql);
    const RENAMED: Migrations =
        Migrations { table: "note_migrations", all: &[notes(1).all[0], OTHER_NAME] };
    const OTHER_SQL: Migration = migration("0002_second", "INSERT INTO notes VALUES ('changed')");
    const CHANGED: Migrations = Migrations {
        table: "note_migrations",
        all: &[notes(1).all[0], OTHER_SQL, notes(3).all[2]],
    };
    let changed = "the migration 0002_second that was applied to the database differs";
    for (migrations, message) in
        [(notes(1), "newer than this program"), (RENAMED, changed), (CHANGED, changed)]
    {
        let error = apply_migrations(&connection, &migrations).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    migration_status(&connection, &CHANGED).unwrap_err();
    assert_eq!(count(&connection).unwrap(), 2);
}

#[tokio::test]
async fn a_database_is_opened_without_a_migration() {
    let directory = tempfile::tempdir().unwrap();
    let database_path = file(path(&directory), true);
    let database = Database::open_unmigrated(&database_path).unwrap();
    let status = async |database: &Database| database.schema_status().await.unwrap();
    assert_eq!(status(&database).await, SchemaStatus::Pending);
    database.migrate().await.unwrap();
    let other = Database::open_unmigrated(&database_path).unwrap();
    assert_eq!(status(&other).await, SchemaStatus::UpToDate);
    let later = "INSERT INTO forum_api_migrations VALUES (99, 'later', '')";
    let connection = Connection::open(path(&directory)).unwrap();
    connection.execute_batch(later).unwrap();
    assert_eq!(status(&other).await, SchemaStatus::Newer);
    let error = Database::open(&database_path).unwrap_err().to_string();
    assert!(error.contains("newer than this program"), "{error}");
}

#[test]
fn the_scripts_create_the_tables() {
    let connection = Connection::open_in_memory().unwrap();
    for script in sqlite_schema::migration_scripts() {
        connection.execute_batch(&script.sql).unwrap();
        connection.execute_batch(&script.sql).unwrap_err();
    }
    let status = migration_status(&connection, &sqlite_schema::MIGRATIONS).unwrap();
    assert_eq!(status, SchemaStatus::UpToDate);
}
