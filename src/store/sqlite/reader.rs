//! Reader threads: they take reads from one queue, so that a slow read delays no other.

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::SqliteError;
use super::error::caught;
use super::interrupt::Caller;
use super::queue::Queue;
use super::run::change;

/// A read that waits for a thread.
pub(super) type Read = Box<dyn FnOnce(&Connection) + Send>;

/// A read that answers its caller. It is skipped or interrupted once the caller no longer waits.
pub(super) fn read<T, E>(
    run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    caller: Caller,
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

/// Works until the queue is closed and empty.
pub(super) fn work(connection: &Connection, queue: &Queue<Read>) {
    let mut finished = None;
    while let Some((class, read)) = queue.next(finished) {
        // A result whose caller is gone is dropped here, which may panic.
        let read = caught(|| {
            read(connection);
            Ok::<_, SqliteError>(())
        });
        drop(read);
        finished = Some(class);
    }
}

/// All statements of `run` see the database as it was at the first.
fn in_snapshot<T, E: From<SqliteError>>(
    connection: &Connection,
    run: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    let tell = |sql| change(connection, sql, []).map_err(SqliteError::from);
    tell("BEGIN")?;
    let outcome = caught(|| run(connection));
    // A failure may have ended it already.
    if !connection.is_autocommit() {
        tell("ROLLBACK")?;
    }
    outcome
}
