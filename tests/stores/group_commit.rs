//! Group commit of the SQLite writer.

use std::sync::mpsc;
use std::time::Duration;

use forum_api::store::sqlite::rusqlite::{Connection, Result, Savepoint};
use forum_api::store::sqlite::{Database, DatabaseSettings, SqliteError};
use tokio::task::JoinSet;

use crate::fixture::{
    assert_overloaded, execute, file, hold_write, is_pending, open, path, temp_database,
};

async fn notes() -> (Database, tempfile::TempDir) {
    let (directory, database) = temp_database();
    let create = "CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT";
    execute(&database, create).await;
    (database, directory)
}

type WriteResult = Result<(), SqliteError>;

fn insert(connection: &Connection, text: &str) -> WriteResult {
    connection.execute("INSERT INTO notes VALUES (?1)", [text])?;
    Ok(())
}

/// Inserts a last note, and asserts that these are stored.
async fn assert_stored(database: &Database, expected: &[&str]) {
    execute(database, "INSERT INTO notes VALUES ('next')").await;
    let read = database.read(|connection| Ok::<_, SqliteError>(texts(connection)?)).await.unwrap();
    assert_eq!(read, expected);
}

fn texts(connection: &Connection) -> Result<Vec<String>> {
    let mut all = connection.prepare("SELECT text FROM notes ORDER BY text")?;
    all.query_map([], |row| row.get(0))?.collect()
}

/// Runs all writes in one group, whose first write waits until the others are queued.
async fn in_one_transaction(
    database: &Database,
    writes: &[fn(&Savepoint<'_>) -> WriteResult],
) -> Vec<WriteResult> {
    let (go, wait) = mpsc::channel();
    let write = move |savepoint: &Savepoint<'_>| {
        wait.recv().unwrap();
        insert(savepoint, "leader")
    };
    let mut leader = Box::pin(database.write(write));
    assert!(is_pending(&mut leader).await);
    let mut queued = Vec::new();
    for write in writes {
        let mut write = Box::pin(database.write(*write));
        assert!(is_pending(&mut write).await);
        queued.push(write);
    }
    go.send(()).unwrap();
    let mut results = vec![leader.await];
    for write in queued {
        results.push(write.await);
    }
    results
}

fn texts_of(results: &[WriteResult]) -> Vec<String> {
    let text = |result: &WriteResult| match result {
        Ok(()) => "done".into(),
        Err(error) => error.to_string(),
    };
    results.iter().map(text).collect()
}

/// Writes of a group, the results with the first write, and the stored notes.
type Case<'a> = (&'a [fn(&Savepoint<'_>) -> WriteResult], &'a [&'a str], &'a [&'a str]);

#[tokio::test]
async fn a_write_can_wait_for_its_turn_without_a_limit() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = DatabaseSettings::default();
    settings.turn_timeout = Duration::MAX;
    let database = Database::open_with(&file(path(&directory), true), &settings).unwrap();
    execute(&database, "CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT").await;
    assert_stored(&database, &["next"]).await;
}

/// An error or a panic rolls back only its own savepoint. A lost transaction, or one that cannot be committed, loses only its
/// group.
#[tokio::test]
async fn operations_of_a_group_are_isolated() {
    let unique = "UNIQUE constraint failed: notes.text";
    let panicked = "the database operation panicked";
    let foreign_key = "FOREIGN KEY constraint failed";
    let cases: [Case<'_>; 3] = [
        (
            &[
                |savepoint| insert(savepoint, "before"),
                |savepoint| {
                    insert(savepoint, "refused")?;
                    insert(savepoint, "before")
                },
                |savepoint| insert(savepoint, "after"),
            ],
            &["done", "done", unique, "done"],
            &["after", "before", "leader", "next"],
        ),
        (
            &[
                |savepoint| {
                    insert(savepoint, "lost")?;
                    panic!("on purpose");
                },
                |savepoint| insert(savepoint, "after"),
            ],
            &["done", panicked, "done"],
            &["after", "leader", "next"],
        ),
        (
            &[
                |savepoint| insert(savepoint, "before"),
                |savepoint| Ok(savepoint.execute_batch("INSERT INTO links VALUES ('none')")?),
            ],
            &[foreign_key; 3],
            &["next"],
        ),
    ];
    for (writes, expected, stored) in cases {
        let (database, _directory) = notes().await;
        let links = "CREATE TABLE links (note TEXT REFERENCES notes DEFERRABLE INITIALLY DEFERRED)";
        execute(&database, links).await;
        let results = in_one_transaction(&database, writes).await;
        assert_eq!(texts_of(&results), expected);
        assert_stored(&database, stored).await;
    }
}

#[tokio::test]
async fn a_lost_transaction_loses_only_its_group() {
    let (database, _directory) = notes().await;
    let rollback = |savepoint: &Savepoint<'_>| Ok(savepoint.execute_batch("ROLLBACK")?);
    let after = |savepoint: &Savepoint<'_>| insert(savepoint, "after");
    let results = in_one_transaction(&database, &[rollback, after]).await;
    assert!(results.iter().all(Result::is_err));
    assert_stored(&database, &["next"]).await;
}

#[tokio::test]
async fn a_group_that_cannot_begin_is_reported() {
    let (database, directory) = notes().await;
    execute(&database, "PRAGMA busy_timeout = 0").await;
    let another_process = hold_write(&directory);
    let result = database.write(|savepoint| insert(savepoint, "locked")).await;
    assert_overloaded(result, "the database is locked by another process");
    drop(another_process);
    assert_stored(&database, &["next"]).await;
}

/// The first write occupies the writer until the second one has failed.
#[tokio::test]
async fn a_write_whose_turn_does_not_come_in_time_fails_and_does_not_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = DatabaseSettings::default();
    settings.turn_timeout = Duration::from_millis(200);
    let database = Database::open_with(&file(path(&directory), true), &settings).unwrap();
    execute(&database, "CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT").await;
    let (go, wait) = mpsc::channel();
    let mut first = Box::pin(database.write(move |savepoint| {
        wait.recv().unwrap();
        insert(savepoint, "first")
    }));
    assert!(is_pending(&mut first).await);
    let late = database.write(|savepoint| insert(savepoint, "late")).await;
    assert_overloaded(late, "the turn of the write did not come in time");
    go.send(()).unwrap();
    first.await.unwrap();
    assert_stored(&database, &["first", "next"]).await;
}

#[tokio::test]
async fn a_write_is_run_after_its_caller_dropped_it() {
    let (database, _directory) = notes().await;
    let mut write = Box::pin(database.write(|savepoint| insert(savepoint, "orphan")));
    is_pending(&mut write).await;
    drop(write);
    assert_stored(&database, &["next", "orphan"]).await;
}

#[tokio::test]
async fn detached_writes_precede_later_writes() {
    let (database, _directory) = notes().await;
    database.write_detached(|savepoint| insert(savepoint, "later"));
    database.write_detached::<SqliteError>(|_| panic!("on purpose"));
    assert_stored(&database, &["later", "next"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_are_durable() {
    let (database, directory) = notes().await;
    let mut writers = JoinSet::new();
    for writer in 0..64 {
        let database = database.clone();
        writers.spawn(async move {
            for number in 0..5 {
                let text = format!("{writer:02}.{number}");
                let run = move |savepoint: &Savepoint<'_>| insert(savepoint, &text);
                database.write(run).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    database.close().await;
    drop(open(&directory));
    let connection = Connection::open(path(&directory)).unwrap();
    assert_eq!(texts(&connection).unwrap().len(), 64 * 5);
}
