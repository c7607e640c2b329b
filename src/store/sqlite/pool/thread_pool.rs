//! Threads of a database and their queues.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Savepoint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::checkpoint::Checkpoint;
use super::error::{Cause, Result};
use super::job_queue::{Bounds, JobQueue, JobSender, queue};
use super::reader::{self, Read};
use super::thread::start;
use super::write_scheduler::{QueuedWrite, TurnDeadline, WaitingOperation, refuse_late};
use super::writer::{self, Write};
use super::{DatabasePath, DatabaseSettings, SqliteError, connection};

/// Threads of one database.
pub(super) struct ThreadPool {
    /// `None` after the pool was closed.
    queues: RwLock<Option<JobSenders>>,
    /// Channel that signals the end of the threads. The writer thread drops the receiver when all connections are
    /// closed.
    running: watch::Sender<()>,
    path: DatabasePath,
    /// The identity of the open file.
    file: Option<[u64; 2]>,
}

/// Senders of the queues. When they are dropped, the threads finish the queued operations and end.
pub(super) struct JobSenders {
    /// `None` in memory, where only the writer has a connection.
    pub(super) reads: Option<JobSender<Read>>,
    writes: Sender<QueuedWrite>,
    /// Deadlines of the foreground writes.
    deadlines: Sender<TurnDeadline>,
    turn_timeout: Duration,
    /// Capacity for writes.
    foreground: Arc<Semaphore>,
    /// Capacity for background writes.
    background: Arc<Semaphore>,
}

/// Priority of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store::sqlite) enum Priority {
    /// The caller waits for the write.
    Foreground,
    /// Completes work that was admitted before; not rejected if the queue is full.
    Completion,
    /// Runs after other writes, within limits.
    Background,
}

impl ThreadPool {
    /// Starts the threads once `set_up` has run on the writer's connection.
    pub(super) fn start(
        path: &DatabasePath,
        settings: &DatabaseSettings,
        set_up: impl FnOnce(&Connection) -> Result<()>,
    ) -> Result<Self> {
        let writer = connection::writer(path, settings)?;
        set_up(&writer)?;
        let running = settings.readers.max(MIN_READERS);
        let bounds =
            Bounds { waiting: settings.queue_capacity, running, running_long: running - 1 };
        let (reads, waiting) = queue(bounds);
        let readers = start_readers(path, settings, running + 1, &waiting)?;
        let reads = (!readers.is_empty()).then_some(reads);
        let (writes, waiting) = channel();
        let checkpoint = Checkpoint::start(path, settings, &writer)?;
        let is_beginning = Arc::<AtomicBool>::default();
        let running = start_writer(writer, waiting, readers, checkpoint, is_beginning.clone())?;
        let capacity = || Arc::new(Semaphore::new(settings.queue_capacity));
        let senders = JobSenders {
            reads,
            writes,
            deadlines: start_deadlines(is_beginning)?,
            turn_timeout: settings.turn_timeout,
            foreground: capacity(),
            background: capacity(),
        };
        let queues = RwLock::new(Some(senders));
        Ok(Self { queues, running, file: path.file_id(), path: path.clone() })
    }

    /// Fails if the path names another file than the open one, or none. A system keeps a removed file while it is open:
    /// its changes are lost when the database is closed.
    pub(super) fn check_file(&self) -> Result<()> {
        if self.path.file_id() == self.file {
            return Ok(());
        }
        Err(SqliteError::unusable(
            "the file of the database was removed or replaced while it is open; further changes are lost",
        ))
    }

    /// Queues an operation, unless the database is closed or the queue is full.
    pub(super) fn queue(&self, send: impl FnOnce(&JobSenders) -> Result<()>) -> Result<()> {
        let queues = self.queues.read().unwrap_or_else(PoisonError::into_inner);
        send(queues.as_ref().ok_or(Cause::Closed)?)
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
        reply: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Result<()>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        let permit = match priority {
            Priority::Foreground => Some(acquire(&self.foreground)?),
            Priority::Completion => None,
            Priority::Background => Some(acquire(&self.background)?),
        };
        let operation = WaitingOperation::new(Write { run, reply });
        if priority == Priority::Foreground
            && let Some(deadline) = Instant::now().checked_add(self.turn_timeout)
        {
            // Without its thread, writes wait without a limit.
            drop(self.deadlines.send((deadline, operation.clone())));
        }
        let write =
            QueuedWrite { operation, is_background: priority == Priority::Background, permit };
        let sent = self.writes.send(write);
        sent.map_err(|_| SqliteError::from(Cause::Closed))
    }
}

/// Starts the thread that fails writes whose turn does not come in time. It ends some time after the senders are dropped;
/// no other thread waits for it, because it has no connection.
fn start_deadlines(is_beginning: Arc<AtomicBool>) -> Result<Sender<TurnDeadline>> {
    let (deadlines, waiting) = channel();
    start("forum-api turns", move || refuse_late(&waiting, &is_beginning))?;
    Ok(deadlines)
}

fn acquire(capacity: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    let permit = Arc::clone(capacity).try_acquire_owned();
    permit.map_err(|_| SqliteError::overloaded())
}

/// Minimum number of threads for ordinary reads: one of them runs no long reads.
const MIN_READERS: usize = 2;

/// Starts the threads for reads: one more than the maximum number of running ordinary reads, so that one thread is free
/// for short reads. A database in memory has no reader threads, because a second connection would open another database.
fn start_readers(
    path: &DatabasePath,
    settings: &DatabaseSettings,
    readers: usize,
    queue: &Arc<JobQueue<Read>>,
) -> Result<Vec<JoinHandle<()>>> {
    let readers = if *path == DatabasePath::Memory { 0 } else { readers };
    let start_one = |_| {
        let connection = connection::reader(path, settings)?;
        let queue = Arc::clone(queue);
        let work = move || reader::work(&connection, &queue);
        start("forum-api reader", work)
    };
    (0..readers).map(start_one).collect()
}

/// Starts the writer thread. It closes the writer's connection last, because closing the last connection merges the log
/// into the file.
fn start_writer(
    mut connection: Connection,
    queue: Receiver<QueuedWrite>,
    mut threads: Vec<JoinHandle<()>>,
    checkpoint: Option<(Checkpoint, JoinHandle<()>)>,
    is_beginning: Arc<AtomicBool>,
) -> Result<watch::Sender<()>> {
    let (running, working) = watch::channel(());
    let (checkpoint, thread) = checkpoint.unzip();
    threads.extend(thread);
    start("forum-api writer", move || {
        writer::work(&mut connection, &queue, checkpoint, &is_beginning);
        threads.into_iter().for_each(|thread| drop(thread.join()));
        drop(connection);
        drop(working);
    })?;
    Ok(running)
}
