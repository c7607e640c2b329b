//! The writer thread: what waits is committed together, each operation in a savepoint of its own.

use std::iter;
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, Savepoint, Transaction, TransactionBehavior};

use super::SqliteError;
use super::checkpoint::Checkpoint;
use super::error::caught;
use super::line::{Line, Waiting};

/// How many operations share a transaction at most.
const GROUP: usize = 64;

/// An operation that waits for its group.
pub(super) trait Operation: Send {
    /// Runs it. What comes of it is told when the group's fate is known.
    fn run(self: Box<Self>, transaction: &mut Transaction<'_>) -> Answer;

    /// Tells that it was not run.
    fn fail(self: Box<Self>, error: SqliteError);
}

/// Tells an operation's caller what came of it, given what came of its group.
pub(super) type Answer = Box<dyn FnOnce(Result<(), SqliteError>)>;

/// What `run` does in a savepoint, and whom that is told.
pub(super) struct Write<R, A> {
    pub(super) run: R,
    pub(super) answer: A,
}

impl<T, E, R, A> Operation for Write<R, A>
where
    T: Send + 'static,
    E: From<SqliteError> + Send + 'static,
    R: FnOnce(&Savepoint<'_>) -> Result<T, E> + Send,
    A: FnOnce(Result<T, E>) + Send + 'static,
{
    fn run(self: Box<Self>, transaction: &mut Transaction<'_>) -> Answer {
        let Self { run, answer } = *self;
        let outcome = caught(|| in_savepoint(transaction, run));
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
pub(super) fn work(connection: &mut Connection, queue: &Receiver<Waiting>) {
    let mut line = Line::new(queue);
    let mut checkpoint = Checkpoint::of(connection);
    while line.wait() {
        survive(|| {
            commit(connection, &mut line);
            checkpoint.keep_small(connection);
        });
    }
}

fn survive(run: impl FnOnce()) {
    let survived = caught(|| {
        run();
        Ok::<_, SqliteError>(())
    });
    drop(survived);
}

fn commit(connection: &mut Connection, line: &mut Line<'_>) {
    match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => run(transaction, line),
        Err(error) => fail(&error.into(), line),
    }
}

/// What comes while others run joins them.
fn run(mut transaction: Transaction<'_>, line: &mut Line<'_>) {
    let mut answers = Vec::new();
    let mut somebody = false;
    while answers.len() < GROUP
        && let Some(waiting) = line.next(somebody)
    {
        let Waiting {
            operation,
            behind,
            permit,
        } = waiting;
        drop(permit);
        survive(|| answers.push(operation.run(&mut transaction)));
        somebody |= !behind;
    }
    let committed = transaction.commit().map_err(SqliteError::from);
    for answer in answers {
        let committed = committed.clone();
        survive(|| answer(committed));
    }
}

/// Who comes when others have been told makes a group of its own.
fn fail(error: &SqliteError, line: &mut Line<'_>) {
    let group = iter::from_fn(|| line.next(false));
    let group: Vec<_> = group.take(GROUP).collect();
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
        return Err(SqliteError::rolled_back().into());
    }
    let savepoint = transaction.savepoint().map_err(SqliteError::from)?;
    let done = run(&savepoint)?;
    savepoint.commit().map_err(SqliteError::from)?;
    Ok(done)
}
