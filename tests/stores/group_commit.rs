//! Group commit of the SQLite writer.

use std::sync::mpsc;

use forum_api::store::sqlite::rusqlite::{Connection, Result, Savepoint};
use forum_api::store::sqlite::{Database, SqliteError};
use tokio::task::JoinSet;

use crate::fixture::{open, path, waits};

async fn notes() -> (Database, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    execute(
        &database,
        "CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT",
    )
    .await;
    (database, directory)
}

/// Result of a write.
type Written = Result<(), SqliteError>;

async fn done(database: &Database, run: fn(&Savepoint<'_>) -> Written) {
    database.write(run).await.unwrap();
}

async fn execute(database: &Database, sql: &'static str) {
    let run = move |savepoint: &Savepoint<'_>| -> Written { Ok(savepoint.execute_batch(sql)?) };
    database.write(run).await.unwrap();
}

fn note(connection: &Connection, text: &str) -> Written {
    connection.execute("INSERT INTO notes VALUES (?1)", [text])?;
    Ok(())
}

async fn noted(database: &Database) -> Vec<String> {
    database
        .read(|connection| Ok::<_, SqliteError>(texts(connection)?))
        .await
        .unwrap()
}

fn texts(connection: &Connection) -> Result<Vec<String>> {
    let mut all = connection.prepare("SELECT text FROM notes ORDER BY text")?;
    all.query_map([], |row| row.get(0))?.collect()
}

/// Runs all of `writes` in one group: the leader of it waits until they are queued.
async fn in_one_transaction(
    database: &Database,
    writes: &[fn(&Savepoint<'_>) -> Written],
) -> Vec<Written> {
    let (go, wait) = mpsc::channel();
    let leader = move |savepoint: &Savepoint<'_>| {
        wait.recv().unwrap();
        note(savepoint, "leader")
    };
    let mut leader = Box::pin(database.write(leader));
    assert!(waits(&mut leader).await);
    let mut answers = Vec::new();
    for write in writes {
        let mut answer = Box::pin(database.write(*write));
        assert!(waits(&mut answer).await);
        answers.push(answer);
    }
    go.send(()).unwrap();
    let mut results = vec![leader.await];
    for answer in answers {
        results.push(answer.await);
    }
    results
}

fn shown(answers: &[Written]) -> Vec<String> {
    let show = |answer: &Written| match answer {
        Ok(()) => "done".into(),
        Err(error) => error.to_string(),
    };
    answers.iter().map(show).collect()
}

/// Writes of a group, their results after that of the leader, and the stored notes.
type Case<'a> = (
    &'a [fn(&Savepoint<'_>) -> Written],
    &'a [&'a str],
    &'a [&'a str],
);

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
                |savepoint| note(savepoint, "before"),
                |savepoint| {
                    note(savepoint, "refused")?;
                    note(savepoint, "before")
                },
                |savepoint| note(savepoint, "after"),
            ],
            &["done", "done", unique, "done"],
            &["after", "before", "leader", "next"],
        ),
        (
            &[
                |savepoint| {
                    note(savepoint, "lost")?;
                    panic!("on purpose");
                },
                |savepoint| note(savepoint, "after"),
            ],
            &["done", panicked, "done"],
            &["after", "leader", "next"],
        ),
        (
            &[
                |savepoint| note(savepoint, "before"),
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
        assert_eq!(shown(&results), expected);
        done(&database, |savepoint| note(savepoint, "next")).await;
        assert_eq!(noted(&database).await, stored);
    }
}

#[tokio::test]
async fn a_lost_transaction_loses_only_its_group() {
    let (database, _directory) = notes().await;
    let rollback = |savepoint: &Savepoint<'_>| Ok(savepoint.execute_batch("ROLLBACK")?);
    let writes: [fn(&Savepoint<'_>) -> Written; 2] =
        [rollback, |savepoint| note(savepoint, "after")];
    let results = in_one_transaction(&database, &writes).await;
    assert!(results.iter().all(Result::is_err));
    done(&database, |savepoint| note(savepoint, "next")).await;
    assert_eq!(noted(&database).await, ["next"]);
}

#[tokio::test]
async fn a_group_that_cannot_begin_is_reported() {
    let (database, directory) = notes().await;
    execute(&database, "PRAGMA busy_timeout = 0").await;
    let another_process = Connection::open(path(&directory)).unwrap();
    another_process.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = database.write(|savepoint| note(savepoint, "locked")).await;
    assert_eq!(shown(&[answer]), ["database is locked"]);
    another_process.execute_batch("COMMIT").unwrap();
    done(&database, |savepoint| note(savepoint, "next")).await;
    assert_eq!(noted(&database).await, ["next"]);
}

#[tokio::test]
async fn a_write_is_run_after_its_caller_is_gone() {
    let (database, _directory) = notes().await;
    let mut answer = Box::pin(database.write(|savepoint| note(savepoint, "orphan")));
    waits(&mut answer).await;
    drop(answer);
    done(&database, |savepoint| note(savepoint, "next")).await;
    assert_eq!(noted(&database).await, ["next", "orphan"]);
}

#[tokio::test]
async fn detached_writes_precede_later_writes() {
    let (database, _directory) = notes().await;
    database.write_detached(|savepoint| note(savepoint, "later"));
    database.write_detached::<SqliteError>(|_| panic!("on purpose"));
    done(&database, |savepoint| note(savepoint, "next")).await;
    assert_eq!(noted(&database).await, ["later", "next"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_writers_at_once_are_durable() {
    let (database, directory) = notes().await;
    let mut writers = JoinSet::new();
    for writer in 0..64 {
        let database = database.clone();
        writers.spawn(async move {
            for number in 0..5 {
                let text = format!("{writer:02}.{number}");
                let run = move |savepoint: &Savepoint<'_>| note(savepoint, &text);
                database.write(run).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    let on_disk = Connection::open(path(&directory)).unwrap();
    assert_eq!(texts(&on_disk).unwrap().len(), 64 * 5);
    database.close().await;
    assert_eq!(noted(&open(&directory)).await.len(), 64 * 5);
}
