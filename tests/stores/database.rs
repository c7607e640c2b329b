//! Opening, reading, migrating and closing a database.

use std::path::PathBuf;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use forum_api::host::{Fault, Refusal};
use forum_api::store::sqlite::rusqlite::Connection;
use forum_api::store::sqlite::{Database, Location, SqliteError, migrate};

use crate::backend::{open, path, waits};

pub(crate) const STEPS: &[&str] = &[
    "CREATE TABLE notes (text TEXT) STRICT; INSERT INTO notes VALUES ('first')",
    "INSERT INTO notes VALUES ('second')",
    "INSERT INTO notes VALUES ('third')",
];

fn count(connection: &Connection) -> Result<u32, SqliteError> {
    Ok(connection.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))?)
}

pub(crate) fn file(path: PathBuf, create: bool) -> Location {
    Location::File { path, create }
}

#[test]
fn an_unusable_place_is_told_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    std::fs::write(
        &text,
        "no database, but long enough to be read as one".repeat(99),
    )
    .unwrap();
    let missing = directory.path().join("missing.db");
    let below_missing = directory.path().join("missing/forum.db");
    for (path, create, problem) in [
        (&missing, false, "there is no database at PATH"),
        (&below_missing, false, "there is no database at PATH"),
        (&below_missing, true, "the directory of PATH does not exist"),
        (&text, true, "PATH is not a database"),
        (&text, false, "PATH is not a database"),
        (&directory.path().into(), true, "PATH is a directory"),
        (
            &text.join("forum.db"),
            true,
            "PATH: Not a directory (os error 20)",
        ),
        (&":memory:".into(), false, "there is no database at PATH"),
    ] {
        let error = Database::open(&file(path.clone(), create)).unwrap_err();
        let expected = problem.replace("PATH", &path.display().to_string());
        assert_eq!(error.to_string(), expected);
    }
    assert!(!missing.exists());
}

#[tokio::test]
async fn an_error_of_sqlite_is_a_failure_to_the_host() {
    let database = Database::open(&Location::Memory).unwrap();
    let refusal = database
        .read(|connection| Ok::<_, Refusal>(count(connection)?))
        .await;
    assert!(matches!(refusal, Err(Refusal::Failed(_))));
    let unknown = |connection: &Connection| -> Result<(), Fault> {
        Ok(connection.execute_batch("SELECT * FROM notes")?)
    };
    let fault = database.read(unknown).await.unwrap_err();
    assert!(
        fault.to_string().contains("no such table: notes"),
        "{fault}"
    );
}

#[tokio::test]
async fn a_read_cannot_write() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let write = |connection: &Connection| -> Result<(), SqliteError> {
        Ok(connection.execute_batch("DELETE FROM forum_api_tokens")?)
    };
    let error = database.read(write).await.unwrap_err();
    assert_eq!(error.to_string(), "attempt to write a readonly database");
}

#[tokio::test]
async fn a_read_that_panics_harms_no_other() {
    let directory = tempfile::tempdir().unwrap();
    for database in [open(&directory), Database::open(&Location::Memory).unwrap()] {
        for _ in 0..2 * thread::available_parallelism().unwrap().get() {
            let error = database.read::<(), SqliteError>(|_| panic!("on purpose"));
            let panicked = "the database operation panicked";
            assert_eq!(error.await.unwrap_err().to_string(), panicked);
        }
        assert_eq!(database.read(|_| Ok::<_, SqliteError>(7)).await.unwrap(), 7);
    }
}

#[tokio::test]
async fn a_read_sees_one_state_of_the_database() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    migrate_in(&database, &STEPS[..1]).await.unwrap();
    let (seen, sees) = tokio::sync::oneshot::channel();
    let (go, wait) = mpsc::channel();
    let mut read = Box::pin(database.read(move |connection| {
        let before = count(connection)?;
        seen.send(()).unwrap();
        wait.recv().unwrap();
        Ok::<_, SqliteError>((before, count(connection)?))
    }));
    assert!(waits(&mut read).await);
    sees.await.unwrap();
    migrate_in(&database, STEPS).await.unwrap();
    go.send(()).unwrap();
    assert_eq!(read.await.unwrap(), (1, 1));
    assert_eq!(database.read(count).await.unwrap(), 3);
}

pub(crate) async fn migrate_in(
    database: &Database,
    steps: &'static [&str],
) -> Result<u32, SqliteError> {
    database
        .write(move |savepoint| migrate(savepoint, "note_migrations", steps))
        .await
}

#[tokio::test]
async fn each_step_is_applied_once() {
    let database = Database::open(&Location::Memory).unwrap();
    assert_eq!(migrate_in(&database, &STEPS[..2]).await.unwrap(), 0);
    assert_eq!(migrate_in(&database, &STEPS[..2]).await.unwrap(), 2);
    assert_eq!(migrate_in(&database, STEPS).await.unwrap(), 2);
    assert_eq!(migrate_in(&database, STEPS).await.unwrap(), 3);
    assert_eq!(database.read(count).await.unwrap(), 3);
}

#[tokio::test]
async fn of_steps_that_fail_none_is_applied() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    const BROKEN: &[&str] = &[STEPS[0], "INSERT INTO nowhere VALUES (1)"];
    migrate_in(&database, BROKEN).await.unwrap_err();
    let connection = Connection::open(path(&directory)).unwrap();
    migrate(&connection, "note_migrations", BROKEN).unwrap_err();
    assert_eq!(migrate_in(&database, STEPS).await.unwrap(), 0);
    assert_eq!(count(&connection).unwrap(), 3);
}

/// The log and the file of shared memory hold the same data, and have the same mode.
#[cfg(unix)]
#[test]
fn files_are_readable_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().unwrap();
    let _database = open(&directory);
    let mut modes: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            (file.file_name().into_string().unwrap(), mode)
        })
        .collect();
    modes.sort_unstable();
    assert_eq!(modes.len(), 3, "{modes:?}");
    assert!(modes.iter().all(|(_, mode)| *mode == 0o600), "{modes:?}");
}

#[test]
fn two_that_migrate_at_once_apply_each_step_once() {
    for had_before in [0, 1].repeat(20) {
        let directory = tempfile::tempdir().unwrap();
        let path = path(&directory);
        let connection = Connection::open(&path).unwrap();
        migrate(&connection, "note_migrations", &STEPS[..had_before]).unwrap();
        let together = Arc::new(Barrier::new(2));
        let threads = [0, 1].map(|_| {
            let (path, together) = (path.clone(), together.clone());
            thread::spawn(move || -> Result<u32, SqliteError> {
                let connection = Connection::open(path)?;
                together.wait();
                migrate(&connection, "note_migrations", STEPS)
            })
        });
        let mut had = threads.map(|thread| thread.join().unwrap().unwrap());
        had.sort_unstable();
        assert_eq!(had, [had_before as u32, 3]);
        assert_eq!(count(&connection).unwrap(), 3);
    }
}

#[test]
fn many_may_open_a_new_file_at_once() {
    for _ in 0..40 {
        let directory = tempfile::tempdir().unwrap();
        let together = Arc::new(Barrier::new(8));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let (location, together) = (file(path(&directory), true), together.clone());
                thread::spawn(move || {
                    together.wait();
                    Database::open(&location)
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn closing_finishes_what_is_queued_and_takes_nothing_more() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    migrate_in(&database, STEPS).await.unwrap();
    database
        .write_later::<SqliteError>(|savepoint| Ok(savepoint.execute_batch("DELETE FROM notes")?));
    let other = database.clone();
    database.close().await;
    let closed = "the database is closed";
    assert_eq!(other.read(count).await.unwrap_err().to_string(), closed);
    let error = migrate_in(&other, STEPS).await.unwrap_err();
    assert_eq!(error.to_string(), closed);
    other.close().await;
    assert_eq!(
        count(&Connection::open(path(&directory)).unwrap()).unwrap(),
        0
    );
}

#[tokio::test]
async fn closing_waits_for_reads_and_leaves_nothing_but_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let (go, wait) = mpsc::channel();
    let (ended, end) = mpsc::channel();
    let mut read = Box::pin(database.read(move |connection| {
        wait.recv().unwrap();
        let long = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000)
            SELECT count(*) FROM n";
        connection.query_row(long, [], |row| row.get::<_, u32>(0))?;
        ended.send(()).unwrap();
        Ok::<_, SqliteError>(())
    }));
    assert!(waits(&mut read).await);
    database.write_later::<SqliteError>(move |_| {
        go.send(()).unwrap();
        Ok(())
    });
    database.clone().close().await;
    assert_eq!(end.try_recv(), Ok(()));
    let files = std::fs::read_dir(directory.path()).unwrap();
    assert_eq!(files.count(), 1);
}

#[tokio::test]
async fn what_nobody_waits_for_is_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let readers = thread::available_parallelism().unwrap().get();
    let together = Arc::new(Barrier::new(readers + 1));
    let mut busy = Vec::new();
    for _ in 0..readers {
        let together = together.clone();
        let mut read = Box::pin(database.read(move |_| {
            together.wait();
            Ok::<_, SqliteError>(())
        }));
        assert!(waits(&mut read).await);
        busy.push(read);
    }
    let (ran, runs) = mpsc::channel();
    let mut unwanted = Box::pin(database.read(move |_| {
        ran.send(()).unwrap();
        Ok::<_, SqliteError>(())
    }));
    assert!(waits(&mut unwanted).await);
    drop(unwanted);
    together.wait();
    for read in busy {
        read.await.unwrap();
    }
    database.close().await;
    assert!(runs.recv().is_err());
}
