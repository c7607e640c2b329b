//! Handle of a database.

use std::fmt;
use std::sync::Arc;

use rusqlite::{Connection, Savepoint};
use tokio::sync::oneshot;

use super::error::Cause;
use super::job_queue::Class;
use super::reader::{self, Caller, Interest};
use super::thread_pool::{JobSenders, Priority, ThreadPool};
use super::{DatabasePath, DatabaseSettings, SqliteError};

/// A SQLite database: a pool of reader threads and one writer thread. Cheap to clone.
///
/// No call but [`open`](Self::open) blocks the calling thread, so an executor never waits for the disk. Work is given as a
/// closure, because a connection stays on its thread. Every connection keeps 256 prepared statements: use
/// [`prepare_cached`](rusqlite::Connection::prepare_cached) throughout. A closure that panics is an error for its caller,
/// and does not affect other callers.
///
/// Each queue is bounded: an operation that finds its queue full fails with
/// [`Overloaded`](crate::store::Overloaded), which the API answers with 503 and `retry-after`. [`DatabaseSettings`] sets
/// the bounds, the number of reader threads and the size of the page cache. The writer truncates the write-ahead log
/// when it exceeds 8 MiB.
///
/// Other processes may use the same file meanwhile; each waits up to 5 s for another's writes.
///
/// When the last handle is dropped, queued operations are still run, and the threads end by themselves.
/// [`close`](Self::close) waits for that.
#[derive(Clone)]
pub struct Database(Arc<ThreadPool>);

impl Database {
    /// Opens a database, runs `set_up` on the writer's connection, and starts the threads.
    pub(in crate::store::sqlite) fn start(
        location: &DatabasePath,
        settings: &DatabaseSettings,
        set_up: impl FnOnce(&Connection) -> Result<(), SqliteError>,
    ) -> Result<Self, SqliteError> {
        let set_up =
            |writer: &Connection| set_up(writer).map_err(|error| location.describe_error(error));
        let threads = ThreadPool::start(location, settings, set_up)?;
        Ok(Self(Arc::new(threads)))
    }

    /// Runs `run` on a reader thread. All its statements see one state of the database, and none can change it.
    ///
    /// When the future is dropped, for example at the deadline of a request, a read that waits is not run, and the
    /// statement of a running one is interrupted. In memory, reads take their turn among the writes.
    ///
    /// # Errors
    /// Those of `run`; a [`SqliteError`] when it panics, the queue is full, or the database is closed.
    pub async fn read<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_in(Class::Ordinary, run).await
    }

    /// As [`read`](Self::read), for look-ups by a key or an index that take well below a millisecond. One reader thread
    /// runs nothing else, so they never wait for slow reads to end.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub async fn read_short<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_in(Class::Short, run).await
    }

    async fn read_in<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        class: Class,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (reply, answer) = oneshot::channel();
        let interest = Interest::default();
        let caller = Caller::of(&interest);
        self.0.queue(|queues| match &queues.reads {
            Some(reads) => {
                let queued = reads.push(class, reader::read(run, caller, reply));
                queued.then_some(()).ok_or_else(SqliteError::overloaded)
            }
            None => {
                let run = move |savepoint: &Savepoint<'_>| {
                    let _interruptible = caller
                        .enter()
                        .ok_or(Cause::Abandoned)
                        .map_err(SqliteError::from)?;
                    run(savepoint)
                };
                queues.write(Priority::Foreground, run, reply_to(reply))
            }
        })?;
        let outcome = recv_reply(answer).await;
        drop(interest);
        outcome
    }

    /// Runs `run` on the writer thread, and returns when its changes are durable.
    ///
    /// Operations that wait at the same time are committed in one transaction (of up to 64), each in a savepoint: an
    /// error or a panic rolls back the changes of its own operation. Only if the transaction itself cannot begin or be
    /// committed do all of them get that error. `run` begins and ends no transaction, checks no constraint later than at
    /// once (`DEFERRED`), and takes little time, because the others wait for it.
    ///
    /// Once the future was polled, `run` is run even if the future is dropped.
    ///
    /// # Errors
    /// Those of `run`; a [`SqliteError`] when it panics, the group cannot be committed, the queue is full, or the
    /// database is closed.
    pub async fn write<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.write_in(Priority::Foreground, run).await
    }

    /// As [`write`](Self::write), for work in the background, such as that of a queue: other writes go first. After each
    /// such operation they do so for twenty times as long as it took; then it is run, however many wait.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub async fn write_background<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.write_in(Priority::Background, run).await
    }

    /// As [`write`](Self::write), to complete work that was admitted before: it is not refused when the queue is full.
    pub(in crate::store::sqlite) async fn write_completion<
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    >(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.write_in(Priority::Completion, run).await
    }

    async fn write_in<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        priority: Priority,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (caller, answer) = oneshot::channel();
        self.0
            .queue(|queues| queues.write(priority, run, reply_to(caller)))?;
        recv_reply(answer).await
    }

    /// As [`write`](Self::write), without a result: an error, also that of a full queue, goes to the log. A crash may lose
    /// it, and so may an earlier [`close`](Self::close).
    pub fn write_detached<E: From<SqliteError> + fmt::Display + Send + 'static>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<(), E> + Send + 'static,
    ) {
        let write = |queues: &JobSenders| queues.write(Priority::Foreground, run, log_error);
        if let Err(error) = self.0.queue(write)
            && !error.is_closed()
        {
            log_error::<E>(Err(error.into()));
        }
    }

    /// Checks that the database can be written to: commits its header with unchanged contents. It costs one `fsync`.
    ///
    /// # Errors
    /// When the database is closed, read-only, locked or full, or its queue of writes is full.
    pub async fn check_writable(&self) -> Result<(), SqliteError> {
        self.write(|savepoint| {
            let version: i32 =
                savepoint.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok(savepoint.pragma_update(None, "user_version", version)?)
        })
        .await
    }

    /// Accepts no further operation from any handle, runs the queued ones, and returns when every connection is closed.
    pub async fn close(self) {
        self.0.close().await;
    }
}

opaque_debug!(Database);

fn reply_to<T>(caller: oneshot::Sender<T>) -> impl FnOnce(T) {
    move |answer| drop(caller.send(answer))
}

async fn recv_reply<T, E: From<SqliteError>>(
    answer: oneshot::Receiver<Result<T, E>>,
) -> Result<T, E> {
    let closed = || SqliteError::from(Cause::Closed).into();
    answer.await.unwrap_or_else(|_| Err(closed()))
}

fn log_error<E: fmt::Display>(outcome: Result<(), E>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "background write failed");
    }
}
