//! Reader threads: they take reads from one queue, so that a slow read does not delay others. A read is interrupted if its
//! caller drops the future.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::{Arc, Weak};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::SqliteError;
use super::error::catch_panic;
use super::job_queue::JobQueue;

/// A read that waits for a thread.
pub(super) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Creates a read that replies to its caller. It is skipped or interrupted if the caller no longer waits.
pub(super) fn read<T, E>(
    run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    caller: CallerRef,
    reply: oneshot::Sender<Result<T, E>>,
) -> Read
where
    T: Send + 'static,
    E: From<SqliteError> + Send + 'static,
{
    Box::new(move |connection| {
        if let Some(interruptible) = caller.enter() {
            let outcome = in_snapshot(connection, run);
            drop(interruptible);
            drop(reply.send(outcome));
        }
    })
}

/// Runs reads until the queue is closed and empty.
pub(super) fn work(connection: &Connection, queue: &JobQueue<Read>) {
    let mut finished = None;
    while let Some((class, read)) = queue.next(finished) {
        // If the caller no longer waits, its result is dropped here, and dropping the result can panic.
        let read = catch_panic(|| {
            read(connection);
            Ok::<_, SqliteError>(())
        });
        drop(read);
        finished = Some(class);
    }
}

/// Runs all statements of `run` in one transaction, so that they read the same state of the database.
fn in_snapshot<T, E: From<SqliteError>>(
    connection: &Connection,
    run: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    let run_statement =
        |sql| -> Result<_, SqliteError> { Ok(connection.prepare_cached(sql)?.execute([])?) };
    run_statement("BEGIN")?;
    let outcome = catch_panic(|| run(connection));
    // An error can have ended the transaction.
    if !connection.is_autocommit() {
        run_statement("ROLLBACK")?;
    }
    outcome
}

/// Number of steps of SQLite's virtual machine between two checks for an interruption. The steps take some tens of
/// microseconds.
const STEPS_PER_CHECK: c_int = 1000;

thread_local! {
    /// The caller of the operation that runs on this thread, if the operation can be interrupted.
    static CALLER: RefCell<Option<Weak<()>>> = const { RefCell::new(None) };
}

/// Reference that the caller's future holds while the caller waits.
pub(super) type CallerGuard = Arc<()>;

/// Detects a caller that no longer waits.
#[derive(Debug)]
pub(super) struct CallerRef(Weak<()>);

/// Guard that makes the operation on the current thread interruptible until the guard is dropped.
#[derive(Debug)]
pub(super) struct Interruptible(());

impl CallerRef {
    pub(super) fn of(guard: &CallerGuard) -> Self {
        Self(Arc::downgrade(guard))
    }

    /// Makes the operation on the current thread interruptible. Returns `None` if the caller no longer waits.
    pub(super) fn enter(self) -> Option<Interruptible> {
        if self.0.strong_count() == 0 {
            return None;
        }
        CALLER.set(Some(self.0));
        Some(Interruptible(()))
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        CALLER.set(None);
    }
}

/// Makes SQLite interrupt a statement whose caller no longer waits.
pub(super) fn make_interruptible(connection: &mut Connection) {
    // The result type differs between versions of rusqlite; without the handler, statements run to completion.
    let _ = connection.progress_handler(STEPS_PER_CHECK, Some(is_abandoned));
}

fn is_abandoned() -> bool {
    let is_gone = |caller: &Weak<()>| caller.strong_count() == 0;
    CALLER.with_borrow(|caller| caller.as_ref().is_some_and(is_gone))
}
