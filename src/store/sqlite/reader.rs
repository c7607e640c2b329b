//! The reader threads: they take reads from one queue, so that a slow one holds up no other.

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::SqliteError;
use super::error::caught;
use super::queue::Queue;
use super::run::change;

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
            drop(caller.send(in_snapshot(connection, run)));
        }
    })
}

/// Works until the queue is closed and empty.
pub(super) fn work(connection: &Connection, queue: &Queue<Read>) {
    while let Some(read) = queue.next() {
        // What was read for a caller who is gone is dropped here, which may panic.
        let read = caught(|| {
            read(connection);
            Ok::<_, SqliteError>(())
        });
        drop(read);
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
