//! Handle of a database.

use std::fmt;
use std::sync::Arc;

use rusqlite::{Connection, Savepoint};
use tokio::sync::oneshot::{self, Receiver};

use super::error::Cause;
use super::job_queue::{Class, JobSender};
use super::reader::{self, CallerGuard, CallerRef};
use super::thread_pool::{JobSenders, Priority, ThreadPool};
use super::{DatabasePath, DatabaseSettings, SqliteError};

/// Handle of a SQLite database with reader threads and one writer thread. Cloning is cheap.
///
/// Operations are closures that run on these threads. Only the methods that open a database block the calling thread. A
/// connection caches 256 prepared statements: use [`prepare_cached`](rusqlite::Connection::prepare_cached). If a
/// closure panics, its caller receives an error and other callers are not affected.
///
/// The queues are bounded: an operation fails with [`OverloadedError`](crate::host::OverloadedError) if its queue is
/// full. The response is then a 503 with `retry-after`. [`DatabaseSettings`] sets the bounds, the number of reader
/// threads and the size of the page cache.
///
/// Several processes can use the same file. A write waits up to 10 s for the writes of another process, and then fails
/// with [`OverloadedError`](crate::host::OverloadedError). A thread copies the write-ahead log into the file. The
/// writer truncates the log when it exceeds 8 MiB, and for that waits up to 50 ms for running reads. A longer read
/// transaction of another process does not delay writes, but the log grows until the transaction ends.
///
/// When the last handle is dropped, the threads run the queued operations and end. [`close`](Self::close) waits for that.
#[derive(Clone)]
pub struct Database(Arc<ThreadPool>);

impl Database {
    /// Opens a database, runs `set_up` on the writer's connection, and starts the threads.
    pub(in crate::store::sqlite) fn start(
        path: &DatabasePath,
        settings: &DatabaseSettings,
        set_up: impl FnOnce(&Connection) -> Result<(), SqliteError>,
    ) -> Result<Self, SqliteError> {
        let set_up =
            |writer: &Connection| set_up(writer).map_err(|error| path.describe_error(error));
        let threads = ThreadPool::start(path, settings, set_up)?;
        Ok(Self(Arc::new(threads)))
    }

    /// Runs `run` on a reader thread, in one read-only transaction. Reads of a database in memory run on the writer thread.
    ///
    /// # Cancellation
    /// If the future is dropped, for example when a request times out, a waiting read does not run, and the statement of a
    /// running read is interrupted.
    ///
    /// # Errors
    /// The errors of `run`, and a [`SqliteError`] if it panics, the queue is full, or the database is closed.
    pub async fn read<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_in(Class::Ordinary, run).await
    }

    /// Runs a short read as [`read`](Self::read) does. A short read is an index look-up that takes well below a
    /// millisecond. One reader thread runs only short reads, so that they do not wait for slower reads.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub async fn read_short<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_in(Class::Short, run).await
    }

    /// Runs a long read as [`read`](Self::read) does. The time of a long read depends on content, as that of a search. One
    /// of the reader threads for ordinary reads runs no long reads, so that ordinary reads do not wait for them.
    ///
    /// Drop the future to limit the time of a read: see [`read`](Self::read).
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub async fn read_long<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_in(Class::Long, run).await
    }

    async fn read_in<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        class: Class,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (sender, reply) = oneshot::channel();
        let guard = CallerGuard::default();
        let caller = CallerRef::of(&guard);
        self.0.queue(|queues| match &queues.reads {
            Some(reads) => {
                let is_queued = reads.push(class, reader::read(run, caller, sender));
                if is_queued { Ok(()) } else { Err(SqliteError::overloaded()) }
            }
            None => {
                let run = move |savepoint: &Savepoint<'_>| {
                    if !caller.is_waiting() {
                        return Err(SqliteError::from(Cause::Abandoned).into());
                    }
                    let _interruptible = caller.enter();
                    run(savepoint)
                };
                queues.write(Priority::Foreground, run, reply_to(sender))
            }
        })?;
        let outcome = recv_reply(reply).await;
        drop(guard);
        outcome
    }

    /// Runs `run` on the writer thread, and returns when its changes are durable.
    ///
    /// Up to 64 waiting operations are committed in one transaction, each in a savepoint: an error or a panic rolls back only
    /// its own operation. If the transaction cannot begin or be committed, all its operations get the error. `run` must not
    /// begin or end a transaction or use `DEFERRED` constraints, and must be fast, because other operations wait for it.
    ///
    /// # Cancellation
    /// Once the future is polled, `run` runs even if the future is dropped.
    ///
    /// # Errors
    /// The errors of `run`, and a [`SqliteError`] if it panics, the transaction fails, the queue is full, or the database is
    /// closed.
    pub async fn write<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.write_in(Priority::Foreground, run).await
    }

    /// Runs a write as [`write`](Self::write) does, after all foreground writes. Foreground writes delay the next
    /// background write by at most 20 times the duration of the previous background write.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub async fn write_background<T: Send + 'static, E: From<SqliteError> + Send + 'static>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.write_in(Priority::Background, run).await
    }

    /// Runs a write of any priority as [`write`](Self::write) does.
    pub(in crate::store::sqlite) async fn write_in<T, E>(
        &self,
        priority: Priority,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let (sender, reply) = oneshot::channel();
        self.0.queue(|queues| queues.write(priority, run, reply_to(sender)))?;
        recv_reply(reply).await
    }

    /// Runs a write without waiting for it. Errors, including a full queue, are logged. The write is lost if the
    /// process crashes before it is committed, or if the database is already [closed](Self::close).
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

    /// Checks that the database accepts writes: commits its header with unchanged contents. Costs one `fsync`.
    ///
    /// # Errors
    /// [`SqliteError`] if the database is closed, read-only, locked or full, if its file was removed or replaced, or if the
    /// queue of writes is full.
    pub async fn check_writable(&self) -> Result<(), SqliteError> {
        let threads = Arc::clone(&self.0);
        self.write(move |savepoint| {
            threads.check_file()?;
            let version: i32 =
                savepoint.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok(savepoint.pragma_update(None, "user_version", version)?)
        })
        .await
    }

    /// Returns the numbers of all reader threads and of those that wait for a read: 0 in memory, or if the database is
    /// closed.
    #[doc(hidden)]
    pub fn readers(&self) -> [usize; 2] {
        let mut threads = [0; 2];
        let _ = self.0.queue(|queues| {
            threads = queues.reads.as_ref().map_or(threads, JobSender::threads);
            Ok(())
        });
        threads
    }

    /// Closes the database for all handles: rejects new operations, runs the queued ones, and returns when all
    /// connections are closed.
    pub async fn close(self) {
        self.0.close().await;
    }
}

opaque_debug!(Database);

fn reply_to<T>(sender: oneshot::Sender<T>) -> impl FnOnce(T) {
    move |reply| drop(sender.send(reply))
}

async fn recv_reply<T, E: From<SqliteError>>(reply: Receiver<Result<T, E>>) -> Result<T, E> {
    let closed = || SqliteError::from(Cause::Closed).into();
    reply.await.unwrap_or_else(|_| Err(closed()))
}

fn log_error<E: fmt::Display>(outcome: Result<(), E>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "background write failed");
    }
}
