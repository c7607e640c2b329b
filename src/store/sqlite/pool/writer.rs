//! The writer thread: waiting operations are committed together, each in a savepoint of its own.

use std::iter;
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, Savepoint, Transaction, TransactionBehavior};

use super::SqliteError;
use super::checkpoint::Checkpoint;
use super::error::{Cause, catch_panic};
use super::write_scheduler::{QueuedWrite, WriteScheduler};

/// Largest number of operations in one transaction.
const MAX_GROUP_SIZE: usize = 64;

/// An operation that waits for its group.
pub(super) trait WriteOperation: Send {
    /// Runs it. The caller gets the result when the group is committed.
    fn run(self: Box<Self>, transaction: &mut Transaction<'_>) -> Completion;

    /// Reports to the caller that it was not run.
    fn fail(self: Box<Self>, error: SqliteError);
}

/// Reports the result of an operation to its caller, given the result of its group.
pub(super) type Completion = Box<dyn FnOnce(Result<(), SqliteError>)>;

/// An operation, and the function that receives its result.
pub(super) struct Write<R, A> {
    pub(super) run: R,
    pub(super) answer: A,
}

impl<T, E, R, A> WriteOperation for Write<R, A>
where
    T: Send + 'static,
    E: From<SqliteError> + Send + 'static,
    R: FnOnce(&Savepoint<'_>) -> Result<T, E> + Send,
    A: FnOnce(Result<T, E>) + Send + 'static,
{
    fn run(self: Box<Self>, transaction: &mut Transaction<'_>) -> Completion {
        let Self { run, answer } = *self;
        let outcome = catch_panic(|| in_savepoint(transaction, run));
        Box::new(move |committed| answer(committed.map_err(E::from).and(outcome)))
    }

    fn fail(self: Box<Self>, error: SqliteError) {
        (self.answer)(Err(error.into()));
    }
}

/// Works until the queue is closed and empty.
///
/// Results, errors and subscribers of the log are the host's code, which may panic at any point. Each call of it is
/// caught on its own; a panic elsewhere costs the group only.
pub(super) fn work(connection: &mut Connection, queue: &Receiver<QueuedWrite>) {
    let mut scheduler = WriteScheduler::new(queue);
    let mut checkpoint = Checkpoint::of(connection);
    while scheduler.wait() {
        survive(|| {
            commit(connection, &mut scheduler);
            checkpoint.keep_small(connection);
        });
    }
}

fn survive(run: impl FnOnce()) {
    let survived = catch_panic(|| {
        run();
        Ok::<_, SqliteError>(())
    });
    drop(survived);
}

fn commit(connection: &mut Connection, scheduler: &mut WriteScheduler<'_>) {
    match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => run(transaction, scheduler),
        Err(error) => fail(&error.into(), scheduler),
    }
}

/// Operations that arrive while others run join the group.
fn run(mut transaction: Transaction<'_>, scheduler: &mut WriteScheduler<'_>) {
    let mut answers = Vec::new();
    let mut has_foreground = false;
    while answers.len() < MAX_GROUP_SIZE
        && let Some(waiting) = scheduler.next(has_foreground)
    {
        let QueuedWrite {
            operation,
            is_background,
            permit,
        } = waiting;
        drop(permit);
        survive(|| answers.push(operation.run(&mut transaction)));
        has_foreground |= !is_background;
    }
    let committed = transaction.commit().map_err(SqliteError::from);
    for answer in answers {
        let committed = committed.clone();
        survive(|| answer(committed));
    }
}

/// Operations that arrive later are another group.
fn fail(error: &SqliteError, scheduler: &mut WriteScheduler<'_>) {
    let group = iter::from_fn(|| scheduler.next(false));
    let group: Vec<_> = group.take(MAX_GROUP_SIZE).collect();
    for waiting in group {
        survive(|| waiting.operation.fail(error.clone()));
    }
}

/// SQLite rolls the whole transaction back when, for example, the disk is full. What came after would then be
/// committed by itself, so nothing does.
fn in_savepoint<T, E: From<SqliteError>>(
    transaction: &mut Transaction<'_>,
    run: impl FnOnce(&Savepoint<'_>) -> Result<T, E>,
) -> Result<T, E> {
    if transaction.is_autocommit() {
        return Err(SqliteError::from(Cause::RolledBack).into());
    }
    let savepoint = transaction.savepoint().map_err(SqliteError::from)?;
    let done = run(&savepoint)?;
    savepoint.commit().map_err(SqliteError::from)?;
    Ok(done)
}
