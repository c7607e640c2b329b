//! The threads that work on a database, and the queues that lead to them.

use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, Savepoint};
use tokio::sync::watch;

use super::line::Waiting;
use super::queue::{Entrance, Queue, queue};
use super::reader::{self, Read};
use super::writer::{self, Write};
use super::{Location, SqliteError, connection};

/// The threads of one database.
pub(super) struct Threads {
    /// `None` once it is closed.
    queues: RwLock<Option<Queues>>,
    /// The writer thread holds the receiver until all connections are closed.
    alive: watch::Sender<()>,
}

/// What waits for the threads. They end when it is dropped, and all that was in it is done.
pub(super) struct Queues {
    /// `None` in memory, where the writer's connection is the only one.
    pub(super) reads: Option<Entrance<Read>>,
    writes: Sender<Waiting>,
}

impl Threads {
    /// Starts the threads once `set_up` has run on the writer's connection.
    pub(super) fn start(
        location: &Location,
        set_up: impl FnOnce(&Connection) -> Result<(), SqliteError>,
    ) -> Result<Self, SqliteError> {
        let writer = connection::writer(location)?;
        set_up(&writer)?;
        let (reads, waiting) = queue();
        let readers = start_readers(location, &waiting)?;
        let reads = (!readers.is_empty()).then_some(reads);
        let (writes, waiting) = channel();
        let alive = start_writer(writer, waiting, readers)?;
        let queues = RwLock::new(Some(Queues { reads, writes }));
        Ok(Self { queues, alive })
    }

    /// What is not queued because the database is closed is dropped, which tells its caller.
    pub(super) fn queue(&self, send: impl FnOnce(&Queues)) {
        let queues = self.queues.read().unwrap_or_else(PoisonError::into_inner);
        queues.as_ref().map(send);
    }

    pub(super) async fn close(&self) {
        self.drop_queues();
        self.alive.closed().await;
    }

    fn drop_queues(&self) {
        let mut queues = self.queues.write().unwrap_or_else(PoisonError::into_inner);
        *queues = None;
    }
}

impl Queues {
    /// What goes `behind` lets other writes go ahead, within reason.
    pub(super) fn write<T, E>(
        &self,
        behind: bool,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
        answer: impl FnOnce(Result<T, E>) + Send + 'static,
    ) where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let operation = Box::new(Write { run, answer });
        drop(self.writes.send(Waiting { operation, behind }));
    }
}

/// One for each core; none where no second connection sees the database.
fn start_readers(
    location: &Location,
    queue: &Arc<Queue<Read>>,
) -> Result<Vec<JoinHandle<()>>, SqliteError> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let readers = if *location == Location::Memory {
        0
    } else {
        cores
    };
    let start_one = |_| {
        let (connection, queue) = (connection::reader(location)?, Arc::clone(queue));
        start("forum-api reader", move || {
            reader::work(&connection, &queue)
        })
    };
    (0..readers).map(start_one).collect()
}

/// The writer's connection is closed last, for the last one folds the log into the file.
fn start_writer(
    mut connection: Connection,
    queue: Receiver<Waiting>,
    readers: Vec<JoinHandle<()>>,
) -> Result<watch::Sender<()>, SqliteError> {
    let (alive, working) = watch::channel(());
    start("forum-api writer", move || {
        writer::work(&mut connection, &queue);
        readers.into_iter().for_each(|reader| drop(reader.join()));
        drop(connection);
        drop(working);
    })?;
    Ok(alive)
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, SqliteError> {
    let thread = thread::Builder::new().name(name.into()).spawn(work);
    thread.map_err(SqliteError::thread)
}
