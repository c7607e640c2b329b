//! A handle on a SQLite database and the threads that work on it.

use std::fmt;
use std::num::NonZero;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;

use rusqlite::{Connection, Savepoint};
use tokio::sync::{oneshot, watch};

use super::reader::{self, Read};
use super::writer::{self, Operation, Write};
use super::{Location, SqliteError, migrate, schema};

/// A SQLite database: as many reader threads as there are cores, and one writer thread. Cheap to clone.
///
/// No call but [`open`](Self::open) blocks the thread it is made on, so an executor never waits for the disk. Work
/// is given as a closure, because a connection stays on its thread. Every connection keeps 256 prepared statements:
/// use [`prepare_cached`](rusqlite::Connection::prepare_cached) throughout. A closure that panics is an error for its
/// caller and harms nobody else.
///
/// Other processes may use the same file meanwhile; each waits up to 5 s for another's writes.
///
/// When the last handle is dropped, what is queued is still done, and the threads end by themselves.
/// [`close`](Self::close) waits for that.
#[derive(Clone)]
pub struct Database(Arc<Threads>);

struct Threads {
    /// `None` once it is closed.
    queues: RwLock<Option<Queues>>,
    /// Each thread holds a receiver until its connection is closed.
    alive: watch::Sender<()>,
}

struct Queues {
    /// `None` in memory, where the writer's connection is the only one.
    reads: Option<Sender<Read>>,
    writes: Sender<Box<dyn Operation>>,
}

impl Database {
    /// Opens a database, makes or migrates the library's own tables in it, and starts the threads.
    ///
    /// It blocks the calling thread until that is done.
    ///
    /// # Errors
    /// When there is no database that could be used, or it is locked for longer than 5 s.
    pub fn open(location: &Location) -> Result<Self, SqliteError> {
        let connection = location.connect()?;
        migrate(&connection, schema::TABLE, schema::STEPS)
            .map_err(|error| location.explain(error))?;
        let (alive, _) = watch::channel(());
        let (writes, queue) = channel();
        start(&alive, "forum-api writer", || {
            writer::work(connection, queue)
        })?;
        let reads = start_readers(&alive, location)?;
        let queues = RwLock::new(Some(Queues { reads, writes }));
        Ok(Self(Arc::new(Threads { queues, alive })))
    }

    /// Runs `run` on a reader thread. All its statements see one state of the database, and none can change it.
    ///
    /// It is not run if the future is dropped before its turn comes. In memory it takes its turn among the writes.
    ///
    /// # Errors
    /// Those of `run`; a [`SqliteError`] when it panics, or the database is closed.
    pub async fn read<T, E>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        self.queue(|queues| match &queues.reads {
            Some(reads) => drop(reads.send(reader::read(run, caller))),
            None => queues.write(|savepoint| run(savepoint), telling(caller)),
        });
        told(answer).await
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
    /// Those of `run`; a [`SqliteError`] when it panics, the group cannot be committed, or the database is closed.
    pub async fn write<T, E>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        self.queue(|queues| queues.write(run, telling(caller)));
        told(answer).await
    }

    /// As [`write`](Self::write), for what nobody waits for: an error goes to the log. A crash may lose it.
    pub fn write_later(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<(), SqliteError> + Send + 'static,
    ) {
        self.queue(|queues| queues.write(run, logged));
    }

    /// Takes nothing more from any handle, finishes what is queued, and returns when every connection is closed.
    pub async fn close(self) {
        let queues = &self.0.queues;
        drop(
            queues
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        self.0.alive.closed().await;
    }

    /// What is not queued because the database is closed is dropped, which tells its caller.
    fn queue(&self, send: impl FnOnce(&Queues)) {
        let queues = &self.0.queues;
        let queues = queues.read().unwrap_or_else(PoisonError::into_inner);
        queues.as_ref().map(send);
    }
}

impl Queues {
    fn write<T, E>(
        &self,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
        answer: impl FnOnce(Result<T, E>) + Send + 'static,
    ) where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        drop(self.writes.send(Box::new(Write { run, answer })));
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Database")
    }
}

/// A reader thread for each core; no queue where there can be none.
fn start_readers(
    alive: &watch::Sender<()>,
    location: &Location,
) -> Result<Option<Sender<Read>>, SqliteError> {
    let (reads, queue) = channel();
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
        let Some(connection) = location.connect_reader() else {
            return Ok(None);
        };
        let (connection, queue) = (connection?, queue.clone());
        start(alive, "forum-api reader", || {
            reader::work(connection, queue)
        })?;
    }
    Ok(Some(reads))
}

fn start(
    alive: &watch::Sender<()>,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<(), SqliteError> {
    let alive = alive.subscribe();
    let thread = thread::Builder::new().name(name.into()).spawn(move || {
        work();
        drop(alive);
    });
    thread.map(drop).map_err(SqliteError::thread)
}

fn telling<T>(caller: oneshot::Sender<T>) -> impl FnOnce(T) {
    move |answer| drop(caller.send(answer))
}

async fn told<T, E: From<SqliteError>>(answer: oneshot::Receiver<Result<T, E>>) -> Result<T, E> {
    let closed = || SqliteError::closed().into();
    answer.await.unwrap_or_else(|_| Err(closed()))
}

fn logged(outcome: Result<(), SqliteError>) {
    if let Err(error) = outcome {
        tracing::error!(%error, "a note was not written to the database");
    }
}
