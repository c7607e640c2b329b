//! The threads of a database, and their queues.

use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, Savepoint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::error::Cause;
use super::job_queue::{Bounds, JobQueue, JobSender, queue};
use super::reader::{self, Read};
use super::write_scheduler::QueuedWrite;
use super::writer::{self, Write};
use super::{DatabasePath, SqliteError, connection};

/// Settings of a [`Database`](super::Database).
///
/// ```
/// use forum_api::store::sqlite::{Database, DatabaseSettings, Location};
///
/// # fn main() -> Result<(), forum_api::store::sqlite::SqliteError> {
/// let settings = DatabaseSettings { readers: 4, ..DatabaseSettings::default() };
/// let database = Database::open_with(&Location::Memory, &settings)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// Number of threads for ordinary reads, at least 1. One more thread serves short reads only. By default the number
    /// of cores. A database in memory has no reader threads.
    pub readers: usize,
    /// Page cache of each connection, in KiB; there is a connection for each reader and one for the writer. By default
    /// 32,768 (32 MiB).
    pub cache_kib: u32,
    /// Number of operations that can wait in each queue: short reads, ordinary reads, writes, and background writes. An
    /// operation beyond that fails with [`Overloaded`](crate::store::Overloaded). By default 1,024.
    pub queue_capacity: usize,
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        Self {
            readers: thread::available_parallelism().map_or(1, NonZero::get),
            cache_kib: 32 * 1024,
            queue_capacity: 1024,
        }
    }
}

/// The threads of one database.
pub(super) struct ThreadPool {
    /// `None` once it is closed.
    queues: RwLock<Option<JobSenders>>,
    /// The writer thread holds the receiver until all connections are closed.
    running: watch::Sender<()>,
}

/// Senders of the queues. When they are dropped, the threads finish the queued operations and end.
pub(super) struct JobSenders {
    /// `None` in memory, where the writer's connection is the only one.
    pub(super) reads: Option<JobSender<Read>>,
    writes: Sender<QueuedWrite>,
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

impl ThreadPool {
    /// Starts the threads once `set_up` has run on the writer's connection.
    pub(super) fn start(
        location: &DatabasePath,
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
        let running = start_writer(writer, waiting, readers)?;
        let places = || Arc::new(Semaphore::new(settings.queue_capacity));
        let queues = JobSenders {
            reads,
            writes,
            foreground: places(),
            background: places(),
        };
        let queues = RwLock::new(Some(queues));
        Ok(Self { queues, running })
    }

    /// JobSenders an operation, unless the database is closed or the queue is full.
    pub(super) fn queue(
        &self,
        send: impl FnOnce(&JobSenders) -> Result<(), SqliteError>,
    ) -> Result<(), SqliteError> {
        let queues = self.queues.read().unwrap_or_else(PoisonError::into_inner);
        queues
            .as_ref()
            .map_or(Err(SqliteError::from(Cause::Closed)), send)
    }

    pub(super) async fn close(&self) {
        self.drop_queues();
        self.running.closed().await;
    }

    fn drop_queues(&self) {
        let mut queues = self.queues.write().unwrap_or_else(PoisonError::into_inner);
        *queues = None;
    }
}

impl JobSenders {
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
        let waiting = QueuedWrite {
            operation: Box::new(Write { run, answer }),
            is_background: priority == Priority::Background,
            permit,
        };
        let sent = self.writes.send(waiting);
        sent.map_err(|_| SqliteError::from(Cause::Closed))
    }
}

fn place(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, SqliteError> {
    let place = Arc::clone(places).try_acquire_owned();
    place.map_err(|_| SqliteError::overloaded())
}

/// One more than the ordinary reads that can run at once, so that one is left to short reads; none where a second
/// connection does not see the database.
fn start_readers(
    location: &DatabasePath,
    settings: &DatabaseSettings,
    queue: &Arc<JobQueue<Read>>,
) -> Result<Vec<JoinHandle<()>>, SqliteError> {
    let readers = if *location == DatabasePath::Memory {
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
    queue: Receiver<QueuedWrite>,
    readers: Vec<JoinHandle<()>>,
) -> Result<watch::Sender<()>, SqliteError> {
    let (running, working) = watch::channel(());
    start("forum-api writer", move || {
        writer::work(&mut connection, &queue);
        readers.into_iter().for_each(|reader| drop(reader.join()));
        drop(connection);
        drop(working);
    })?;
    Ok(running)
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, SqliteError> {
    let thread = thread::Builder::new().name(name.into()).spawn(work);
    thread.map_err(|error| Cause::Thread(error).into())
}
