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

/// Runs all statements of `run` in one transaction, so that they read the same state of the database. `BEGIN` and
/// `ROLLBACK` are not interruptible: an interruption could leave the transaction open.
fn in_snapshot<T, E: From<SqliteError>>(
    connection: &Connection,
    run: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    let execute = |sql| connection.execute_batch(sql).map_err(SqliteError::from);
    execute("BEGIN")?;
    let outcome = catch_panic(|| run(connection));
    // An error can have ended the transaction.
    if !connection.is_autocommit() {
        execute("ROLLBACK")?;
    }
    outcome
}

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
        if caller.is_waiting() {
            let outcome = in_snapshot(connection, |connection| {
                let _interruptible = caller.enter();
                run(connection)
            });
            drop(reply.send(outcome));
        }
    })
}

/// Runs reads until the queue is closed and empty.
pub(super) fn work(connection: &Connection, queue: &JobQueue<Read>) {
    let mut finished = None;
    while let Some((class, job)) = queue.next(finished) {
        // If the caller no longer waits, its result is dropped here, and dropping the result can panic.
        let caught = catch_panic(|| {
            job(connection);
            Ok::<_, SqliteError>(())
        });
        drop(caught);
        finished = Some(class);
    }
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

    pub(super) fn is_waiting(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Makes the operation on the current thread interruptible.
    pub(super) fn enter(self) -> Interruptible {
        CALLER.set(Some(self.0));
        Interruptible(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_read_leaves_no_transaction() {
        let mut connection = Connection::open_in_memory().unwrap();
        // A check at each step interrupts every statement that can be interrupted.
        let _ = connection.progress_handler(1, Some(is_abandoned));
        let guard = CallerGuard::default();
        let caller = CallerRef::of(&guard);
        let (reply, mut outcome) = oneshot::channel();
        let query = move |connection: &Connection| {
            drop(guard);
            let one = connection.query_row("SELECT 1", [], |row| row.get::<_, i64>(0));
            Ok::<_, SqliteError>(one?)
        };
        read(query, caller, reply)(&connection);
        assert!(outcome.try_recv().unwrap().is_err());
        assert!(connection.is_autocommit());
    }
}
