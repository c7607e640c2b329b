//! Comparison of a SQLite schema with the program's.

use forum_api::store::SchemaStatus;
use forum_api::store::sqlite::rusqlite::Connection;
use forum_api::store::sqlite::{Database, Location, migrate, schema_status};

use crate::backend::path;
use crate::database::{STEPS, file, migrate_in};

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_as_it_is() {
    let database = Database::open(&Location::Memory).unwrap();
    migrate_in(&database, STEPS).await.unwrap();
    let error = migrate_in(&database, &STEPS[..1]).await.unwrap_err();
    assert!(
        error.to_string().contains("newer than this program"),
        "{error}"
    );
    let connection = Connection::open_in_memory().unwrap();
    migrate(&connection, "note_migrations", STEPS).unwrap();
    migrate(&connection, "note_migrations", &STEPS[..1]).unwrap_err();
    for (known, expected) in [
        (&STEPS[..1], SchemaStatus::Newer),
        (STEPS, SchemaStatus::UpToDate),
        (&[STEPS, &[""]].concat(), SchemaStatus::Pending),
    ] {
        let status = schema_status(&connection, "note_migrations", known).unwrap();
        assert_eq!(status, expected);
    }
}

#[tokio::test]
async fn a_database_is_opened_without_a_migration() {
    let directory = tempfile::tempdir().unwrap();
    let location = file(path(&directory), true);
    let database = Database::open_unmigrated(&location).unwrap();
    assert_eq!(
        database.schema_status().await.unwrap(),
        SchemaStatus::Pending
    );
    database.migrate().await.unwrap();
    let other = Database::open_unmigrated(&location).unwrap();
    assert_eq!(other.schema_status().await.unwrap(), SchemaStatus::UpToDate);
    let later = "INSERT INTO forum_api_migrations DEFAULT VALUES";
    let connection = Connection::open(path(&directory)).unwrap();
    connection.execute_batch(later).unwrap();
    assert_eq!(other.schema_status().await.unwrap(), SchemaStatus::Newer);
    let error = Database::open(&location).unwrap_err();
    assert!(
        error.to_string().contains("newer than this program"),
        "{error}"
    );
}
