//! Limits of the SQLite pool: bounded queues, interrupted reads, readers kept for short reads, and panics on the writer.

use std::error::Error;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use forum_api::host::Overloaded;
use forum_api::store::sqlite::rusqlite::{Connection, ErrorCode, Savepoint};
use forum_api::store::sqlite::{Database, DatabasePath, DatabaseSettings, SqliteError};
use forum_api::store::{BeginOutcome, Completion, Stores};
use tokio::time::timeout;

use crate::fixture::{at, attempt, file, lookup, open, path, waits};

/// Time limit for operations that never end when they are broken.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

const ENDLESS: &str =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

fn small(location: &DatabasePath) -> Database {
    let settings = DatabaseSettings {
        readers: 1,
        queue_capacity: 2,
        ..DatabaseSettings::default()
    };
    Database::open_with(location, &settings).unwrap()
}

type Operation = Pin<Box<dyn Future<Output = Result<(), SqliteError>> + Send>>;

/// An operation that is queued and ends when it is released.
struct Held {
    operation: Operation,
    begun: Receiver<()>,
    release: Sender<()>,
}

impl Held {
    async fn new(start: impl FnOnce(Box<dyn FnOnce() + Send>) -> Operation) -> Self {
        let (release, wait) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let mut operation = start(Box::new(move || {
            let _ = begin.send(());
            let _ = wait.recv();
        }));
        assert!(waits(&mut operation).await);
        Self {
            operation,
            begun,
            release,
        }
    }

    async fn read(database: &Database) -> Self {
        let database = database.clone();
        Self::new(|run| {
            Box::pin(async move {
                let read = move |_: &Connection| {
                    run();
                    Ok(())
                };
                database.read(read).await
            })
        })
        .await
    }

    async fn write(database: &Database) -> Self {
        let database = database.clone();
        Self::new(|run| {
            Box::pin(async move {
                let write = move |_: &Savepoint<'_>| {
                    run();
                    Ok(())
                };
                database.write(write).await
            })
        })
        .await
    }
}

/// Releases all of them before it waits for them, for writes end together.
async fn end(held: Vec<Held>) {
    let mut operations = Vec::new();
    for Held {
        operation, release, ..
    } in held
    {
        drop(release);
        operations.push(operation);
    }
    for operation in operations {
        operation.await.unwrap();
    }
}

fn assert_overloaded(outcome: Result<(), SqliteError>) {
    let error = outcome.unwrap_err();
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    let retry_after = Duration::from_secs(1);
    assert_eq!(cause, Some(&Overloaded { retry_after }), "{error}");
}

#[tokio::test]
async fn a_token_is_found_while_slow_reads_use_every_reader_that_they_can_use() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let mut slow = Vec::new();
    for _ in 0..2 * thread::available_parallelism().unwrap().get() {
        slow.push(Held::read(&database).await);
    }
    slow[0].begun.recv().unwrap();
    let tokens = Stores::in_sqlite(&database).tokens;
    let lookup = lookup(1);
    let found = timeout(TEST_TIMEOUT, tokens.find(&lookup)).await;
    assert_eq!(found.unwrap().unwrap(), None);
    end(slow).await;
}

#[tokio::test]
async fn a_full_queue_of_reads_refuses_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let database = small(&file(path(&directory), true));
    let mut held = vec![Held::read(&database).await];
    held[0].begun.recv().unwrap();
    for _ in 0..2 {
        held.push(Held::read(&database).await);
    }
    assert_overloaded(database.read(|_| Ok(())).await);
    let short = database.read_short(|_| Ok::<_, SqliteError>(7)).await;
    assert_eq!(short.unwrap(), 7);
    end(held).await;
    database.read(|_| Ok::<_, SqliteError>(())).await.unwrap();
}

#[tokio::test]
async fn a_full_queue_of_writes_refuses_the_next_but_settles_what_was_admitted() {
    let directory = tempfile::tempdir().unwrap();
    let database = small(&file(path(&directory), true));
    let keys = Stores::in_sqlite(&database).idempotency;
    let attempt = attempt("k");
    let BeginOutcome::Reserved(ticket) = keys.begin(&attempt, at(0)).await.unwrap() else {
        panic!("the key is new");
    };
    let mut held = vec![Held::write(&database).await];
    held[0].begun.recv().unwrap();
    for _ in 0..2 {
        held.push(Held::write(&database).await);
    }
    assert_overloaded(database.write(|_| Ok(())).await);
    let mut settled = keys.complete(&ticket, Completion::NotExecuted);
    assert!(waits(&mut settled).await);
    end(held).await;
    settled.await.unwrap();
    let again = keys.begin(&attempt, at(1)).await.unwrap();
    assert!(matches!(again, BeginOutcome::Reserved(_)), "{again:?}");
}

#[tokio::test]
async fn a_read_is_interrupted_when_its_caller_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    for database in [
        small(&file(path(&directory), true)),
        small(&DatabasePath::Memory),
    ] {
        let (begin, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let mut read = Box::pin(database.read(move |connection| {
            begin.send(()).unwrap();
            let endless = connection.query_row(ENDLESS, [], |_| Ok(()));
            end.send(endless.map_err(|error| error.sqlite_error_code()))
                .unwrap();
            Ok::<_, SqliteError>(())
        }));
        assert!(waits(&mut read).await);
        begun.recv().unwrap();
        drop(read);
        let outcome = ended.recv_timeout(TEST_TIMEOUT);
        assert_eq!(outcome, Ok(Err(Some(ErrorCode::OperationInterrupted))));
        assert_eq!(database.read(|_| Ok::<_, SqliteError>(7)).await.unwrap(), 7);
    }
}

/// A result that panics when it is dropped.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

/// An error that cannot be made.
#[derive(Debug)]
struct Unmakeable;

impl From<SqliteError> for Unmakeable {
    fn from(_: SqliteError) -> Self {
        panic!("on purpose");
    }
}

#[tokio::test]
async fn the_writer_survives_the_panics_of_results_and_errors() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let held = vec![Held::write(&database).await];
    let mut abandoned = Box::pin(database.write(|_| Ok::<_, SqliteError>(Explosive)));
    assert!(waits(&mut abandoned).await);
    drop(abandoned);
    end(held).await;
    database.check_writable().await.unwrap();
    let other = database.clone();
    let lost = tokio::spawn(async move {
        let rolled_back = other.write(|savepoint| {
            savepoint.execute_batch("ROLLBACK").unwrap();
            Ok::<_, Unmakeable>(())
        });
        rolled_back.await
    });
    assert!(lost.await.unwrap_err().is_panic());
    // It can join the lost group, which fails as a whole.
    let _ = database.check_writable().await;
    database.check_writable().await.unwrap();
}

#[tokio::test]
async fn a_database_is_writable_unless_it_is_read_only_or_closed() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    database.check_writable().await.unwrap();
    database
        .write(|savepoint| Ok::<_, SqliteError>(savepoint.execute_batch("PRAGMA query_only = 1")?))
        .await
        .unwrap();
    let refused = database.check_writable().await.unwrap_err().to_string();
    assert_eq!(refused, "attempt to write a readonly database");
    database.clone().close().await;
    let closed = database.check_writable().await.unwrap_err().to_string();
    assert_eq!(closed, "the database is closed");
}

/// Reads of other connections, of which each ends only after half of the others have begun another one: at no time is
/// there none that holds the log.
fn overlapping_reads(path: &Path, readers: usize, until: &AtomicBool) {
    let begun = (Mutex::new(0_usize), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(|| {
                let connection = Connection::open(path).unwrap();
                while !until.load(Ordering::Relaxed) {
                    connection
                        .execute_batch("BEGIN; SELECT count(*) FROM pages")
                        .unwrap();
                    let mut count = begun.0.lock().unwrap();
                    *count += 1;
                    let enough = *count + readers / 2;
                    begun.1.notify_all();
                    while *count < enough && !until.load(Ordering::Relaxed) {
                        count = begun.1.wait(count).unwrap();
                    }
                    drop(count);
                    connection.execute_batch("COMMIT").unwrap();
                }
                begun.1.notify_all();
            });
        }
    });
}

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn the_log_stays_small_under_permanent_readers() {
    let directory = tempfile::tempdir().unwrap();
    let database = open(&directory);
    let create = "CREATE TABLE pages (id INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT";
    database
        .write(move |savepoint| Ok::<_, SqliteError>(savepoint.execute_batch(create)?))
        .await
        .unwrap();
    let (path, stop) = (path(&directory), Arc::new(AtomicBool::new(false)));
    let readers = {
        let (path, stop) = (path.clone(), Arc::clone(&stop));
        thread::spawn(move || overlapping_reads(&path, 64, &stop))
    };
    let log = path.with_extension("db-wal");
    let mut largest = 0;
    for _ in 0..96 {
        let write = "REPLACE INTO pages VALUES (1, zeroblob(1048576))";
        database
            .write(move |savepoint| Ok::<_, SqliteError>(savepoint.execute_batch(write)?))
            .await
            .unwrap();
        largest = largest.max(log.metadata().unwrap().len());
    }
    stop.store(true, Ordering::Relaxed);
    readers.join().unwrap();
    assert!(largest < 48 * MIB, "{} MiB", largest / MIB);
}
