//! The threads that work on a database, and the queues that lead to them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, Savepoint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::line::Waiting;
use super::queue::{Bounds, Entrance, Queue, queue};
use super::reader::{self, Read};
use super::writer::{self, Write};
use super::{DatabaseSettings, Location, SqliteError, connection};

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
    /// Free places for writes.
    foreground: Arc<Semaphore>,
    /// Free places for background writes.
    background: Arc<Semaphore>,
}

/// Priority of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// Someone waits for it.
    Foreground,
    /// Completes work that was admitted before, so it is not refused when the queue is full.
    Completion,
    /// Lets other writes go first, within limits.
    Background,
}

impl Threads {
    /// Starts the threads once `set_up` has run on the writer's connection.
    pub(super) fn start(
        location: &Location,
        settings: &DatabaseSettings,
        set_up: impl FnOnce(&Connection) -> Result<(), SqliteError>,
    ) -> Result<Self, SqliteError> {
        let writer = connection::writer(location, settings)?;
        set_up(&writer)?;
        let (reads, waiting) = queue(Bounds {
            waiting: settings.queue_capacity,
            running: settings.readers.max(1),
        });
        let readers = start_readers(location, settings, &waiting)?;
        let reads = (!readers.is_empty()).then_some(reads);
        let (writes, waiting) = channel();
        let alive = start_writer(writer, waiting, readers)?;
        let places = || Arc::new(Semaphore::new(settings.queue_capacity));
        let queues = Queues {
            reads,
            writes,
            foreground: places(),
            background: places(),
        };
        let queues = RwLock::new(Some(queues));
        Ok(Self { queues, alive })
    }

    /// Queues an operation, unless the database is closed or the queue is full.
    pub(super) fn queue(
        &self,
        send: impl FnOnce(&Queues) -> Result<(), SqliteError>,
    ) -> Result<(), SqliteError> {
        let queues = self.queues.read().unwrap_or_else(PoisonError::into_inner);
        queues.as_ref().map_or(Err(SqliteError::closed()), send)
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
    pub(super) fn write<T, E>(
        &self,
        priority: Priority,
        run: impl FnOnce(&Savepoint<'_>) -> Result<T, E> + Send + 'static,
        answer: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Result<(), SqliteError>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let permit = match priority {
            Priority::Foreground => Some(place(&self.foreground)?),
            Priority::Completion => None,
            Priority::Background => Some(place(&self.background)?),
        };
        let waiting = Waiting {
            operation: Box::new(Write { run, answer }),
            behind: priority == Priority::Background,
            permit,
        };
        let sent = self.writes.send(waiting);
        sent.map_err(|_| SqliteError::closed())
    }
}

fn place(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, SqliteError> {
    let place = Arc::clone(places).try_acquire_owned();
    place.map_err(|_| SqliteError::overloaded())
}

/// One more than the ordinary reads that can run at once, so that one is left to short reads; none where a second
/// connection does not see the database.
fn start_readers(
    location: &Location,
    settings: &DatabaseSettings,
    queue: &Arc<Queue<Read>>,
) -> Result<Vec<JoinHandle<()>>, SqliteError> {
    let readers = if *location == Location::Memory {
        0
    } else {
        settings.readers.max(1).saturating_add(1)
    };
    let start_one = |_| {
        let (connection, queue) = (connection::reader(location, settings)?, Arc::clone(queue));
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
