//! SQLite databases: opening, reading and closing.

use std::path::Path;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use forum_api::host::{BackendError, BoardError};
use forum_api::store::sqlite::rusqlite::Connection;
use forum_api::store::sqlite::{Database, DatabasePath, SqliteError};

use crate::fixture::{file, is_pending, open, path, temp_database};
use crate::migrations::{count, migrate_in, notes};

#[test]
fn an_unusable_path_is_reported_in_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    let content = "no database, but long enough to be read as one".repeat(99);
    std::fs::write(&text, content).unwrap();
    let missing = directory.path().join("missing.db");
    let below_missing = directory.path().join("missing/forum.db");
    let absent = r#"the database "PATH" does not exist"#;
    let absent_directory = r#"the directory of the database "PATH" does not exist"#;
    let other_file = r#"the file "PATH" is not a SQLite database"#;
    let is_directory = r#"cannot open the database "PATH": it is a directory"#;
    let below_file = r#"cannot open the database "PATH": Not a directory (os error 20)"#;
    let forbidden = Path::new("/sys/forum.db");
    let reason = std::fs::File::create(forbidden).unwrap_err();
    let forbidden_file = format!("cannot create the database \"PATH\": {reason}");
    for (path, create, problem) in [
        (&forbidden.into(), true, forbidden_file.as_str()),
        (&missing, false, absent),
        (&below_missing, false, absent),
        (&below_missing, true, absent_directory),
        (&text, true, other_file),
        (&text, false, other_file),
        (&directory.path().into(), true, is_directory),
        (&text.join("forum.db"), true, below_file),
        (&":memory:".into(), false, absent),
    ] {
        let error = Database::open(&file(path.clone(), create)).unwrap_err();
        let expected = problem.replace("PATH", &path.display().to_string());
        assert_eq!(error.to_string(), expected);
    }
    assert!(!missing.exists());
}

/// The log and the file of shared memory hold the same data, and have the same mode.
#[cfg(unix)]
#[test]
fn files_are_readable_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().unwrap();
    let _database = open(&directory);
    let files = std::fs::read_dir(directory.path()).unwrap();
    let modes: Vec<_> = files
        .map(|file| file.unwrap().metadata().unwrap().permissions().mode())
        .map(|mode| mode & 0o777)
        .collect();
    assert_eq!(modes, [0o600; 3]);
}

#[tokio::test]
async fn an_error_of_sqlite_is_an_internal_error_of_the_host() {
    let database = Database::open(&DatabasePath::Memory).unwrap();
    let result = database.read(|connection| Ok::<_, BoardError>(count(connection)?)).await;
    assert!(matches!(result, Err(BoardError::Internal(_))));
    let unknown = |connection: &Connection| -> Result<(), BackendError> {
        Ok(connection.execute_batch("SELECT * FROM notes")?)
    };
    let error = database.read(unknown).await.unwrap_err().to_string();
    assert!(error.contains("no such table: notes"), "{error}");
}

#[tokio::test]
async fn a_read_cannot_write() {
    let (_directory, database) = temp_database();
    let write = |connection: &Connection| -> Result<(), SqliteError> {
        Ok(connection.execute_batch("DELETE FROM forum_api_tokens")?)
    };
    let error = database.read(write).await.unwrap_err();
    assert_eq!(error.to_string(), "attempt to write a readonly database");
}

#[tokio::test]
async fn a_panic_in_a_read_does_not_affect_other_reads() {
    let (_directory, in_file) = temp_database();
    for database in [in_file, Database::open(&DatabasePath::Memory).unwrap()] {
        for _ in 0..2 * thread::available_parallelism().unwrap().get() {
            let error = database.read::<(), SqliteError>(|_| panic!("on purpose"));
            let panicked = "the database operation panicked";
            assert_eq!(error.await.unwrap_err().to_string(), panicked);
        }
        assert_eq!(database.read(|_| Ok::<_, SqliteError>(7)).await.unwrap(), 7);
    }
}

#[tokio::test]
async fn a_read_is_one_transaction() {
    let (_directory, database) = temp_database();
    migrate_in(&database, notes(1)).await.unwrap();
    let (begin, begun) = tokio::sync::oneshot::channel();
    let (go, wait) = mpsc::channel();
    let mut read = Box::pin(database.read(move |connection| {
        let before = count(connection)?;
        begin.send(()).unwrap();
        wait.recv().unwrap();
        Ok::<_, SqliteError>((before, count(connection)?))
    }));
    assert!(is_pending(&mut read).await);
    begun.await.unwrap();
    migrate_in(&database, notes(3)).await.unwrap();
    go.send(()).unwrap();
    assert_eq!(read.await.unwrap(), (1, 1));
    assert_eq!(database.read(count).await.unwrap(), 3);
}

#[tokio::test]
async fn close_runs_queued_writes_and_rejects_new_ones() {
    let (directory, database) = temp_database();
    migrate_in(&database, notes(3)).await.unwrap();
    database.write_detached::<SqliteError>(|savepoint| {
        Ok(savepoint.execute_batch("DELETE FROM notes")?)
    });
    let other = database.clone();
    database.close().await;
    let read = other.read(count).await.unwrap_err();
    let write = migrate_in(&other, notes(3)).await.unwrap_err();
    let errors = [read, write].map(|error| error.to_string());
    assert_eq!(errors, ["the database is closed"; 2]);
    other.close().await;
    let connection = Connection::open(path(&directory)).unwrap();
    assert_eq!(count(&connection).unwrap(), 0);
}

#[tokio::test]
async fn close_waits_for_reads_and_leaves_only_the_file() {
    let (directory, database) = temp_database();
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
    assert!(is_pending(&mut read).await);
    database.write_detached::<SqliteError>(move |_| {
        go.send(()).unwrap();
        Ok(())
    });
    database.clone().close().await;
    assert_eq!(end.try_recv(), Ok(()));
    let files = std::fs::read_dir(directory.path()).unwrap();
    assert_eq!(files.count(), 1);
}

/// Returns the default number of threads for ordinary reads.
fn readers() -> usize {
    thread::available_parallelism().unwrap().get().max(2)
}

#[tokio::test]
async fn long_reads_leave_a_thread_for_ordinary_reads() {
    let (_directory, database) = temp_database();
    let together = Arc::new(Barrier::new(readers()));
    let mut busy = Vec::new();
    for _ in 1..readers() {
        let together = together.clone();
        let mut read = Box::pin(database.read_long(move |_| {
            together.wait();
            Ok::<_, SqliteError>(())
        }));
        assert!(is_pending(&mut read).await);
        busy.push(read);
    }
    let mut waiting = Box::pin(database.read_long(|_| Ok::<_, SqliteError>(())));
    assert!(is_pending(&mut waiting).await);
    database.read(|_| Ok::<_, SqliteError>(())).await.unwrap();
    assert!(is_pending(&mut waiting).await);
    together.wait();
    for read in busy {
        read.await.unwrap();
    }
    waiting.await.unwrap();
}

#[tokio::test]
async fn an_abandoned_read_is_not_run() {
    let (_directory, database) = temp_database();
    let readers = readers();
    let together = Arc::new(Barrier::new(readers + 1));
    let mut busy = Vec::new();
    for _ in 0..readers {
        let together = together.clone();
        let mut read = Box::pin(database.read(move |_| {
            together.wait();
            Ok::<_, SqliteError>(())
        }));
        assert!(is_pending(&mut read).await);
        busy.push(read);
    }
    let (run, ran) = mpsc::channel();
    let mut abandoned = Box::pin(database.read(move |_| {
        run.send(()).unwrap();
        Ok::<_, SqliteError>(())
    }));
    assert!(is_pending(&mut abandoned).await);
    drop(abandoned);
    together.wait();
    for read in busy {
        read.await.unwrap();
    }
    database.close().await;
    assert!(ran.recv().is_err());
}
