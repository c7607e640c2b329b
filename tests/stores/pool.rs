//! Limits of the SQLite pool: bounded queues, interrupted reads, threads for short reads, and panics on the writer.

use std::fs;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use forum_api::store::sqlite::rusqlite::{Connection, ErrorCode};
use forum_api::store::sqlite::{Database, DatabasePath, DatabaseSettings, SqliteError};
use forum_api::store::{BeginOutcome, Completion, Stores};
use tokio::time::timeout;

use crate::fixture::{
    TEST_TIMEOUT, assert_overloaded, at, execute, file, is_pending, keyed_request, lookup, path,
    temp_database,
};

const QUEUE_IS_FULL: &str = "the queue of database operations is full";

const ENDLESS: &str =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

/// Opens a database that runs two ordinary reads at once, with queues of two operations.
fn small(path: &DatabasePath) -> Database {
    let mut settings = DatabaseSettings::default();
    settings.readers = 2;
    settings.queue_capacity = 2;
    Database::open_with(path, &settings).unwrap()
}

type Operation = Pin<Box<dyn Future<Output = Result<(), SqliteError>> + Send>>;
type Run = Box<dyn FnOnce() -> Result<(), SqliteError> + Send>;

/// Queued operations that end when they are released, and the starts of their runs.
#[derive(Default)]
struct Held {
    operations: Vec<Operation>,
    releases: Vec<Sender<()>>,
    begun: Vec<Receiver<()>>,
}

impl Held {
    async fn add(&mut self, start: impl FnOnce(Run) -> Operation) {
        let (release, wait) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let mut operation = start(Box::new(move || {
            let _ = begin.send(());
            let _ = wait.recv();
            Ok(())
        }));
        assert!(is_pending(&mut operation).await);
        self.operations.push(operation);
        self.releases.push(release);
        self.begun.push(begun);
    }

    async fn read(&mut self, database: &Database) {
        let database = database.clone();
        self.add(|run| Box::pin(async move { database.read(move |_| run()).await })).await;
    }

    async fn write(&mut self, database: &Database) {
        let database = database.clone();
        self.add(|run| Box::pin(async move { database.write(move |_| run()).await })).await;
    }

    fn await_start(&self, operation: usize) {
        self.begun[operation].recv().unwrap();
    }

    /// Releases all operations before it waits for them, because writes end together.
    async fn end(self) {
        drop(self.releases);
        for operation in self.operations {
            operation.await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_token_is_found_while_slow_reads_occupy_all_ordinary_readers() {
    let (_directory, database) = temp_database();
    let mut slow = Held::default();
    for _ in 0..2 * thread::available_parallelism().unwrap().get() {
        slow.read(&database).await;
    }
    slow.await_start(0);
    let tokens = Stores::in_sqlite(&database).tokens;
    let lookup = lookup(1);
    let token = timeout(TEST_TIMEOUT, tokens.find(&lookup)).await;
    assert_eq!(token.unwrap().unwrap(), None);
    slow.end().await;
}

#[tokio::test]
async fn a_full_queue_of_reads_rejects_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let database = small(&file(path(&directory), true));
    let mut held = Held::default();
    for running in 0..2 {
        held.read(&database).await;
        held.await_start(running);
    }
    for _ in 0..2 {
        held.read(&database).await;
    }
    let read = database.read(|_| Ok::<_, SqliteError>(())).await;
    assert_overloaded(read, QUEUE_IS_FULL);
    let short = database.read_short(|_| Ok::<_, SqliteError>(7)).await;
    assert_eq!(short.unwrap(), 7);
    held.end().await;
    database.read(|_| Ok::<_, SqliteError>(())).await.unwrap();
}

#[tokio::test]
async fn a_full_queue_of_writes_rejects_the_next_but_completes_admitted_requests() {
    let directory = tempfile::tempdir().unwrap();
    let database = small(&file(path(&directory), true));
    let keys = Stores::in_sqlite(&database).idempotency;
    let request = keyed_request("k");
    let BeginOutcome::Reserved(reservation) = keys.begin(&request, at(0)).await.unwrap() else {
        panic!("the key is new");
    };
    let mut held = Held::default();
    held.write(&database).await;
    held.await_start(0);
    for _ in 0..2 {
        held.write(&database).await;
    }
    let write = database.write(|_| Ok::<_, SqliteError>(())).await;
    assert_overloaded(write, QUEUE_IS_FULL);
    let mut completed = keys.complete(&reservation, Completion::NotExecuted);
    assert!(is_pending(&mut completed).await);
    held.end().await;
    completed.await.unwrap();
    let outcome = keys.begin(&request, at(1)).await.unwrap();
    assert!(matches!(outcome, BeginOutcome::Reserved(_)), "{outcome:?}");
}

#[tokio::test]
async fn background_writes_have_a_bounded_queue_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let database = small(&file(path(&directory), true));
    let mut held = Held::default();
    held.write(&database).await;
    held.await_start(0);
    for _ in 0..2 {
        held.write(&database).await;
    }
    let write = || database.write_background(|_| Ok::<_, SqliteError>(()));
    let mut waiting = [write(), write()].map(Box::pin);
    for one in &mut waiting {
        assert!(is_pending(one).await);
    }
    let next = timeout(TEST_TIMEOUT, write()).await;
    assert_overloaded(next.expect("it does not wait"), QUEUE_IS_FULL);
    held.end().await;
    for one in waiting {
        one.await.unwrap();
    }
}

#[tokio::test]
async fn a_read_is_interrupted_when_its_caller_drops_it() {
    let directory = tempfile::tempdir().unwrap();
    let in_file = small(&file(path(&directory), true));
    for database in [in_file, small(&DatabasePath::Memory)] {
        let (begin, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let mut read = Box::pin(database.read(move |connection| {
            begin.send(()).unwrap();
            let endless = connection.query_row(ENDLESS, [], |_| Ok(()));
            let code = endless.map_err(|error| error.sqlite_error_code());
            end.send(code).unwrap();
            Ok::<_, SqliteError>(())
        }));
        assert!(is_pending(&mut read).await);
        begun.recv().unwrap();
        drop(read);
        let result = ended.recv_timeout(TEST_TIMEOUT);
        assert_eq!(result, Ok(Err(Some(ErrorCode::OperationInterrupted))));
        assert_eq!(database.read(|_| Ok::<_, SqliteError>(7)).await.unwrap(), 7);
    }
}

/// A result that panics when it is dropped.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

/// An error whose conversion panics.
#[derive(Debug)]
struct PanicsOnConversion;

impl From<SqliteError> for PanicsOnConversion {
    fn from(_: SqliteError) -> Self {
        panic!("on purpose");
    }
}

#[tokio::test]
async fn the_writer_survives_panics_of_results_and_errors() {
    let (_directory, database) = temp_database();
    let mut held = Held::default();
    held.write(&database).await;
    let mut abandoned = Box::pin(database.write(|_| Ok::<_, SqliteError>(PanicsOnDrop)));
    assert!(is_pending(&mut abandoned).await);
    drop(abandoned);
    held.end().await;
    database.check_writable().await.unwrap();
    let other = database.clone();
    let lost = tokio::spawn(async move {
        other
            .write(|savepoint| {
                savepoint.execute_batch("ROLLBACK").unwrap();
                Ok::<_, PanicsOnConversion>(())
            })
            .await
    });
    assert!(lost.await.unwrap_err().is_panic());
    // This write can join the lost group, which fails.
    let _ = database.check_writable().await;
    database.check_writable().await.unwrap();
}

#[tokio::test]
async fn a_database_is_writable_unless_it_is_read_only_replaced_or_closed() {
    let (directory, database) = temp_database();
    database.check_writable().await.unwrap();
    let (path, aside) = (path(&directory), directory.path().join("aside"));
    fs::rename(&path, &aside).unwrap();
    for _ in 0..2 {
        let error = database.check_writable().await.unwrap_err().to_string();
        assert!(error.contains("removed or replaced"), "{error}");
        fs::copy(&aside, &path).unwrap();
    }
    fs::rename(&aside, &path).unwrap();
    database.check_writable().await.unwrap();
    execute(&database, "PRAGMA query_only = 1").await;
    let error = database.check_writable().await.unwrap_err().to_string();
    assert_eq!(error, "attempt to write a readonly database");
    database.clone().close().await;
    let error = database.check_writable().await.unwrap_err().to_string();
    assert_eq!(error, "the database is closed");
}

/// Runs reads on other connections. Each read ends only after half of the other connections have begun another read, so
/// that at least one read holds the log at any time.
fn overlapping_reads(path: &Path, readers: usize, stop: &AtomicBool) {
    let begun = (Mutex::new(0_usize), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(|| {
                let connection = Connection::open(path).unwrap();
                let run = |sql| connection.execute_batch(sql).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    run("BEGIN; SELECT count(*) FROM pages");
                    let mut count = begun.0.lock().unwrap();
                    *count += 1;
                    let enough = *count + readers / 2;
                    begun.1.notify_all();
                    while *count < enough && !stop.load(Ordering::Relaxed) {
                        count = begun.1.wait(count).unwrap();
                    }
                    drop(count);
                    run("COMMIT");
                }
                begun.1.notify_all();
            });
        }
    });
}

const MIB: u64 = 1024 * 1024;

/// Writes 96 MiB beside permanent readers. Returns the largest size of the log.
async fn largest_log() -> u64 {
    let (directory, database) = temp_database();
    let create = "CREATE TABLE pages (id INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT";
    execute(&database, create).await;
    let path = path(&directory);
    let stop = Arc::new(AtomicBool::new(false));
    let log = path.with_extension("db-wal");
    let stop_readers = Arc::clone(&stop);
    let readers = thread::spawn(move || overlapping_reads(&path, 16, &stop_readers));
    let mut largest = 0;
    for _ in 0..96 {
        let replace = "REPLACE INTO pages VALUES (1, zeroblob(1048576))";
        execute(&database, replace).await;
        largest = largest.max(log.metadata().unwrap().len());
    }
    stop.store(true, Ordering::Relaxed);
    readers.join().unwrap();
    largest
}

#[tokio::test]
async fn the_log_stays_small_under_permanent_readers() {
    let mut sizes = Vec::new();
    // On a busy machine, the readers can hold the log for longer than the writer waits.
    while sizes.len() < 5 {
        sizes.push(largest_log().await / MIB);
        if sizes.last().is_some_and(|size| *size < 48) {
            return;
        }
    }
    panic!("{sizes:?} MiB");
}

/// A read transaction of another program blocks no write. After the end of the transaction the log shrinks in steps, because
/// the removal of all its bytes at once would delay a write.
#[tokio::test]
async fn a_long_read_of_another_program_delays_no_write() {
    let (directory, database) = temp_database();
    let create = "CREATE TABLE pages (id INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT";
    execute(&database, create).await;
    let path = path(&directory);
    let log = path.with_extension("db-wal");
    let size = || log.metadata().unwrap().len();
    let replace = "REPLACE INTO pages VALUES (1, zeroblob(1048576))";
    let other = Connection::open(&path).unwrap();
    let read = "BEGIN; SELECT count(*) FROM pages";
    other.execute_batch(read).unwrap();
    let mut slowest = Duration::ZERO;
    while size() < 200 * MIB {
        let start = Instant::now();
        execute(&database, replace).await;
        slowest = slowest.max(start.elapsed());
    }
    // A wait for the other program would take 10 s.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    other.execute_batch("COMMIT").unwrap();
    let mut longest_cut = 0;
    let shrink = async {
        while size() > 16 * MIB {
            let before = size();
            execute(&database, replace).await;
            longest_cut = longest_cut.max(before.saturating_sub(size()));
        }
    };
    timeout(TEST_TIMEOUT, shrink).await.expect("the log shrinks");
    // A write removes 8 MiB. The thread may remove the rest of 16 MiB before the size is read again.
    assert!(longest_cut <= 24 * MIB, "{longest_cut}");
}
