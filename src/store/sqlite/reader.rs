//! The reader threads: they take reads from one queue, so that a slow one holds up no other.

use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::SqliteError;
use super::error::caught;

/// A read that waits for a thread.
pub(super) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// A read that answers its caller; skipped when nobody waits for it any more.
pub(super) fn read<T, E>(
    run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    caller: oneshot::Sender<Result<T, E>>,
) -> Read
where
    T: Send + 'static,
    E: From<SqliteError> + Send + 'static,
{
    Box::new(move |connection| {
        if !caller.is_closed() {
            drop(caller.send(caught(|| in_snapshot(connection, run))));
        }
    })
}

/// Works until the queue is closed and empty.
pub(super) fn work(connection: &Connection, queue: &Mutex<Receiver<Read>>) {
    while let Some(read) = next(queue) {
        read(connection);
    }
}

fn next(queue: &Mutex<Receiver<Read>>) -> Option<Read> {
    let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.recv().ok()
}

/// All statements of `run` see the database as it was at the first.
fn in_snapshot<T, E: From<SqliteError>>(
    connection: &Connection,
    run: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
        .map_err(SqliteError::from)?;
    run(&snapshot)
}
