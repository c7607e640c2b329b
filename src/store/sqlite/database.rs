//! The handle on a SQLite database.

use std::fmt;
use std::sync::Arc;

use rusqlite::{Connection, Savepoint};
use tokio::sync::oneshot;

use super::interrupt::{Caller, Interest};
use super::queue::Class;
use super::threads::{Priority, Queues, Threads};
use super::{DatabaseSettings, Location, SqliteError, migrate, reader, schema, schema_status};
use crate::store::SchemaStatus;

/// A SQLite database: a pool of reader threads and one writer thread. Cheap to clone.
///
/// No call but [`open`](Self::open) blocks the thread it is made on, so an executor never waits for the disk. Work
/// is given as a closure, because a connection stays on its thread. Every connection keeps 256 prepared statements:
/// use [`prepare_cached`](rusqlite::Connection::prepare_cached) throughout. A closure that panics is an error for its
/// caller and harms nobody else.
///
/// Each queue is bounded: an operation that finds its queue full fails with
/// [`Overloaded`](crate::store::Overloaded), which the API answers with 503 and `retry-after`. [`DatabaseSettings`] sets
/// the bounds, the number of reader threads and the size of the page cache. The writer truncates the write-ahead log
/// when it exceeds 8 MiB.
///
/// Other processes may use the same file meanwhile; each waits up to 5 s for another's writes.
///
/// When the last handle is dropped, what is queued is still done, and the threads end by themselves.
/// [`close`](Self::close) waits for that.
#[derive(Clone)]
pub struct Database(Arc<Threads>);

impl Database {
    /// Opens a database, creates or migrates the library's own tables in it, and starts the threads.
    ///
    /// It blocks the calling thread until that is done.
    ///
    /// # Errors
    /// When there is no database that could be used, it is locked for longer than 5 s, a migration fails, or a newer
    /// program migrated the tables ([`SchemaStatus::Newer`]).
    pub fn open(location: &Location) -> Result<Self, SqliteError> {
        Self::open_with(location, &DatabaseSettings::default())
    }

    /// As [`open`](Self::open), with other settings than the default ones.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with(
        location: &Location,
        settings: &DatabaseSettings,
    ) -> Result<Self, SqliteError> {
        Self::start(location, settings, migrate_tables)
    }

    /// Opens a database as [`open`](Self::open) does, and leaves the library's own tables as they are. The caller checks
    /// [`schema_status`](Self::schema_status) before it uses them.
    ///
    /// # Errors
    /// When there is no database that could be used, or it is locked for longer than 5 s.
    pub fn open_unmigrated(location: &Location) -> Result<Self, SqliteError> {
        Self::start(location, &DatabaseSettings::default(), |_| Ok(()))
    }

    fn start(
        location: &Location,
        settings: &DatabaseSettings,
        set_up: impl FnOnce(&Connection) -> Result<(), SqliteError>,
    ) -> Result<Self, SqliteError> {
        let set_up = |writer: &Connection| set_up(writer).map_err(|error| location.explain(error));
        let threads = Threads::start(location, settings, set_up)?;
        Ok(Self(Arc::new(threads)))
    }

    /// Compares the library's own tables with those that [`migrate`](Self::migrate) would create. Changes nothing.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn schema_status(&self) -> Result<SchemaStatus, SqliteError> {
        let status =
            |connection: &Connection| Ok(schema_status(connection, schema::TABLE, schema::STEPS)?);
        self.read_short(status).await
    }

    /// Creates or migrates the library's own tables.
    ///
    /// # Errors
    /// When a migration fails, or a newer program migrated the tables ([`SchemaStatus::Newer`]).
    pub async fn migrate(&self) -> Result<(), SqliteError> {
        self.write(|savepoint| migrate_tables(savepoint)).await
    }

    /// Runs `run` on a reader thread. All its statements see one state of the database, and none can change it.
    ///
    /// When the future is dropped, for example at the deadline of a request, a read that waits is not run, and the
    /// statement of a running one is interrupted. In memory, reads take their turn among the writes.
    ///
    /// # Errors
    /// Those of `run`; a [`SqliteError`] when it panics, the queue is full, or the database is closed.
    pub async fn read<T, E>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.read_in(Class::Ordinary, run).await
    }

    /// As [`read`](Self::read), for look-ups by a key or an index that take well below a millisecond. One reader thread
    /// runs nothing else, so they never wait for slow reads to end.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub async fn read_short<T, E>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.read_in(Class::Short, run).await
    }

    async fn read_in<T, E>(
        &self,
        class: Class,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
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
                    let _interruptible = caller.enter().ok_or_else(SqliteError::abandoned)?;
                    run(savepoint)
                };
                queues.write(Priority::Foreground, run, telling(reply))
            }
        })?;
        let outcome = told(answer).await;
        drop(interest);
        outcome
    }

    /// Runs `run` on the writer thread, and returns when what it did is durable.
    ///
    /// What waits at the same time is committed in one transaction (of up to 64 operations), each in a savepoint:
    /// an error, or a panic, rolls back what its own operation did. Only if the transaction itself cannot begin or
    /// be committed do all of them get that error. `run` begins and ends no transaction, checks no constraint later
    /// than at once (`DEFERRED`), and takes little time, for the others wait for it.
    ///
    /// Once the future was polled, `run` is run whether or not the future is dropped.
    ///
    /// # Errors
    /// Those of `run`; a [`SqliteError`] when it panics, the group cannot be committed, the queue is full, or the
    /// database is closed.
    pub async fn write<T, E>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.write_in(Priority::Foreground, run).await
    }

    /// As [`write`](Self::write), for the work in the background that nobody sits before, such as a queue's: other
    /// writes go ahead of it. After each such operation they do so for twenty times as long as it took; then it has its
    /// turn, however many wait.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub async fn write_behind<T, E>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.write_in(Priority::Background, run).await
    }

    /// As [`write`](Self::write), to complete work that was admitted before: it is not refused when the queue is full.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub(super) async fn write_completion<T, E>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.write_in(Priority::Completion, run).await
    }

    async fn write_in<T, E>(
        &self,
        priority: Priority,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        self.0
            .queue(|queues| queues.write(priority, run, telling(caller)))?;
        told(answer).await
    }

    /// As [`write`](Self::write), without a result: an error, also that of a full queue, goes to the log. A
    /// crash may lose it, and [`close`](Self::close) does when it came before.
    pub fn write_later<E>(&self, run: impl FnOnce(&Savepoint<'_>) -> Result<(), E> + Send + 'static)
    where
        E: From<SqliteError> + fmt::Display + Send + 'static,
    {
        let write = |queues: &Queues| queues.write(Priority::Foreground, run, logged);
        if let Err(error) = self.0.queue(write)
            && !error.is_closed()
        {
            logged::<E>(Err(error.into()));
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

    /// Takes nothing more from any handle, finishes what is queued, and returns when every connection is closed.
    pub async fn close(self) {
        self.0.close().await;
    }
}

opaque_debug!(Database);

fn migrate_tables(connection: &Connection) -> Result<(), SqliteError> {
    migrate(connection, schema::TABLE, schema::STEPS).map(drop)
}

fn telling<T>(caller: oneshot::Sender<T>) -> impl FnOnce(T) {
    move |answer| drop(caller.send(answer))
}

async fn told<T, E: From<SqliteError>>(answer: oneshot::Receiver<Result<T, E>>) -> Result<T, E> {
    let closed = || SqliteError::closed().into();
    answer.await.unwrap_or_else(|_| Err(closed()))
}

fn logged<E: fmt::Display>(outcome: Result<(), E>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "a note was not written to the database");
    }
}
