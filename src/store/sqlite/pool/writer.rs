//! Writer thread: commits waiting operations together, each in its own savepoint.

use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, Savepoint, Transaction, TransactionBehavior};

use super::SqliteError;
use super::checkpoint::Checkpoint;
use super::error::{catch, catch_panic};
use super::write_scheduler::{Completion, QueuedWrite, WriteOperation, WriteScheduler};

/// Maximum number of operations in one transaction.
const MAX_GROUP_SIZE: usize = 64;

/// An operation and the function that receives its result.
pub(super) struct Write<R, A> {
    pub(super) run: R,
    pub(super) reply: A,
}

impl<T, E, R, A> WriteOperation for Write<R, A>
where
    T: Send + 'static,
    E: From<SqliteError> + Send + 'static,
    R: FnOnce(&Savepoint<'_>) -> Result<T, E> + Send,
    A: FnOnce(Result<T, E>) + Send + 'static,
{
    fn run(self: Box<Self>, transaction: &mut Transaction<'_>) -> Completion {
        let Self { run, reply } = *self;
        let outcome = catch_panic(|| in_savepoint(transaction, run));
        Box::new(move |committed| reply(committed.map_err(E::from).and(outcome)))
    }

    fn fail(self: Box<Self>, error: SqliteError) {
        (self.reply)(Err(error.into()));
    }
}

/// Runs until the queue is closed and empty.
///
/// Operations, results, errors and log subscribers contain code of the host, which can panic. A panic in a call of this
/// code is caught and does not affect other operations. Any other panic fails only the group.
pub(super) fn work(
    connection: &mut Connection,
    queue: &Receiver<QueuedWrite>,
    mut checkpoint: Option<Checkpoint>,
    is_beginning: &AtomicBool,
) {
    let mut scheduler = WriteScheduler::new(queue);
    while scheduler.wait() {
        catch(|| {
            commit(connection, &mut scheduler, is_beginning);
            if let Some(checkpoint) = &mut checkpoint {
                checkpoint.keep_small(connection);
            }
        });
    }
}

/// Sets `is_beginning` while the transaction begins, which waits for the lock of another process.
fn commit(
    connection: &mut Connection,
    scheduler: &mut WriteScheduler<'_>,
    is_beginning: &AtomicBool,
) {
    is_beginning.store(true, Ordering::Relaxed);
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    is_beginning.store(false, Ordering::Relaxed);
    match begun {
        Ok(transaction) => run(transaction, scheduler),
        Err(error) => fail(&SqliteError::of_begin(error), scheduler),
    }
}

/// Operations that arrive while others run join the group.
fn run(mut transaction: Transaction<'_>, scheduler: &mut WriteScheduler<'_>) {
    let mut completions = Vec::new();
    let mut has_foreground = false;
    while completions.len() < MAX_GROUP_SIZE
        && let Some(write) = scheduler.next(has_foreground)
    {
        let QueuedWrite { operation, is_background, permit } = write;
        drop(permit);
        if let Some(operation) = operation.take() {
            catch(|| completions.push(operation.run(&mut transaction)));
            has_foreground |= !is_background;
        }
    }
    let committed = if transaction.is_autocommit() {
        Err(SqliteError::rolled_back())
    } else {
        transaction.commit().map_err(SqliteError::of_commit)
    };
    for complete in completions {
        let committed = committed.clone();
        catch(|| complete(committed));
    }
}

/// Fails all queued operations, because each of them would otherwise wait for the timeout again.
fn fail(error: &SqliteError, scheduler: &mut WriteScheduler<'_>) {
    let waiting: Vec<_> = iter::from_fn(|| scheduler.next(false)).collect();
    for operation in waiting.iter().filter_map(|write| write.operation.take()) {
        catch(|| operation.fail(error.clone()));
    }
}

/// If SQLite has rolled back the whole transaction, for example because the disk is full, the remaining operations are
/// not run, because each of them would be committed separately.
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
