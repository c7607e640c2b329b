//! Order of the writes: foreground writes precede background writes, within limits.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Transaction;
use tokio::sync::OwnedSemaphorePermit;

use super::SqliteError;
use super::error::catch;
use crate::lock::lock;

/// Maximum time for which foreground writes precede a background write, as a multiple of the duration of the previous
/// background writes.
const BACKGROUND_WAIT_FACTOR: u32 = 20;

/// A write operation. The writer runs operations in groups, each group in one transaction.
pub(super) trait WriteOperation: Send {
    /// Runs the operation. The caller receives the result when the group is committed.
    fn run(self: Box<Self>, transaction: &mut Transaction<'_>) -> Completion;

    /// Reports to the caller that the operation was not run.
    fn fail(self: Box<Self>, error: SqliteError);
}

/// Reports the result of an operation to its caller, given the result of its group.
pub(super) type Completion = Box<dyn FnOnce(Result<(), SqliteError>)>;

/// An operation that waits for its turn. Either the writer or [`refuse_late`] takes it.
#[derive(Clone)]
pub(super) struct WaitingOperation(Arc<Mutex<Option<Box<dyn WriteOperation>>>>);

impl WaitingOperation {
    pub(super) fn new(operation: impl WriteOperation + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::new(operation)))))
    }

    /// Takes the operation; returns `None` if it was taken before.
    pub(super) fn take(&self) -> Option<Box<dyn WriteOperation>> {
        lock(&self.0).take()
    }
}

/// An operation, and the time at which it fails if the writer has not taken it.
pub(super) type TurnDeadline = (Instant, WaitingOperation);

/// Time after the deadline of the first of several operations at which they fail, so that the thread does not wake for each
/// operation.
const TICK: Duration = Duration::from_millis(100);

/// Fails the operations that the writer has not taken at their deadlines. The error names the lock of another process while
/// `is_beginning` is true. Runs until the sender is dropped. Errors and replies contain code of the host: a panic does not
/// end the thread.
pub(super) fn refuse_late(deadlines: &Receiver<TurnDeadline>, is_beginning: &AtomicBool) {
    for (deadline, operation) in deadlines {
        let rest = deadline.saturating_duration_since(Instant::now());
        if !rest.is_zero() {
            thread::sleep(rest + TICK);
        }
        if let Some(operation) = operation.take() {
            let error = if is_beginning.load(Ordering::Relaxed) {
                SqliteError::locked()
            } else {
                SqliteError::late()
            };
            catch(|| operation.fail(error));
        }
    }
}

/// A write that waits in the queue.
pub(super) struct QueuedWrite {
    pub(super) operation: WaitingOperation,
    pub(super) is_background: bool,
    /// Reserved place in the bounded queue, released when the operation begins; `None` for a write that the bound does
    /// not limit.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

/// Queue of the writer.
///
/// Background writes run when no foreground write waits, and at the latest when they are due. They always run
/// eventually. While foreground writes wait, background writes take at most a twentieth of the time of foreground
/// writes.
pub(super) struct WriteScheduler<'a> {
    queue: &'a Receiver<QueuedWrite>,
    foreground: VecDeque<QueuedWrite>,
    background: VecDeque<QueuedWrite>,
    /// Time from which background writes take precedence.
    background_due_at: Instant,
    /// Start of the running background writes; `None` if no background write runs.
    background_since: Option<Instant>,
}

impl<'a> WriteScheduler<'a> {
    pub(super) fn new(queue: &'a Receiver<QueuedWrite>) -> Self {
        Self {
            queue,
            foreground: VecDeque::new(),
            background: VecDeque::new(),
            background_due_at: Instant::now(),
            background_since: None,
        }
    }

    /// Waits for a write. Returns `false` when the queue is closed and empty.
    pub(super) fn wait(&mut self) -> bool {
        self.end_background();
        if self.is_empty() {
            self.queue.recv().into_iter().for_each(|one| self.push(one));
        }
        !self.is_empty()
    }

    /// Returns the next waiting write. `has_foreground` is `true` if its group has foreground writes.
    pub(super) fn next(&mut self, has_foreground: bool) -> Option<QueuedWrite> {
        self.end_background();
        while let Ok(one) = self.queue.try_recv() {
            self.push(one);
        }
        let foreground_first = has_foreground || !self.foreground.is_empty();
        let is_due = Instant::now() >= self.background_due_at;
        if self.background.is_empty() || foreground_first && !is_due {
            return self.foreground.pop_front();
        }
        self.background_since = Some(Instant::now());
        self.background.pop_front()
    }

    fn is_empty(&self) -> bool {
        self.foreground.is_empty() && self.background.is_empty()
    }

    fn end_background(&mut self) {
        if let Some(since) = self.background_since.take() {
            self.background_due_at = Instant::now() + since.elapsed() * BACKGROUND_WAIT_FACTOR;
        }
    }

    fn push(&mut self, one: QueuedWrite) {
        if one.is_background {
            self.background.push_back(one)
        } else {
            self.foreground.push_back(one)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    struct NoOperation;

    impl WriteOperation for NoOperation {
        fn run(self: Box<Self>, _: &mut Transaction<'_>) -> Completion {
            Box::new(drop)
        }

        fn fail(self: Box<Self>, _: SqliteError) {}
    }

    /// An operation that sends its error when it fails, and then panics.
    struct PanickingOperation(Sender<String>);

    impl WriteOperation for PanickingOperation {
        fn run(self: Box<Self>, _: &mut Transaction<'_>) -> Completion {
            Box::new(drop)
        }

        fn fail(self: Box<Self>, error: SqliteError) {
            self.0.send(error.to_string()).unwrap();
            panic!("the error of the host panics");
        }
    }

    #[test]
    fn a_panic_of_a_late_write_does_not_prevent_the_next_refusal() {
        let (deadlines, waiting) = channel();
        let (failures, failed) = channel();
        for _ in 0..2 {
            let operation = WaitingOperation::new(PanickingOperation(failures.clone()));
            deadlines.send((Instant::now(), operation)).unwrap();
        }
        drop((deadlines, failures));
        refuse_late(&waiting, &AtomicBool::new(false));
        assert_eq!(failed.iter().count(), 2);
    }

    #[test]
    fn a_late_write_names_the_lock_of_another_process() {
        for (is_beginning, expected) in [
            (false, "the turn of the write did not come in time"),
            (true, "the database is locked by another process"),
        ] {
            let (deadlines, waiting) = channel();
            let (failures, failed) = channel();
            let operation = WaitingOperation::new(PanickingOperation(failures));
            deadlines.send((Instant::now(), operation)).unwrap();
            drop(deadlines);
            refuse_late(&waiting, &AtomicBool::new(is_beginning));
            assert_eq!(failed.recv().unwrap(), expected);
        }
    }

    const HOUR: Duration = Duration::from_secs(3600);

    /// Queues one write for each element.
    fn queue(writes: &Sender<QueuedWrite>, background: &[bool]) {
        for is_background in background {
            let write = QueuedWrite {
                operation: WaitingOperation::new(NoOperation),
                is_background: *is_background,
                permit: None,
            };
            writes.send(write).unwrap();
        }
    }

    /// Returns `true` if each write of the next group is in the background.
    fn group(scheduler: &mut WriteScheduler<'_>) -> Vec<bool> {
        let mut group = Vec::new();
        while let Some(next) = scheduler.next(group.contains(&false)) {
            group.push(next.is_background);
        }
        group
    }

    #[test]
    fn background_writes_go_first_when_they_are_due() {
        let (writes, waiting) = channel();
        queue(&writes, &[false, true, false]);
        let mut scheduler = WriteScheduler::new(&waiting);
        assert_eq!(group(&mut scheduler), [true, false, false]);
    }

    #[test]
    fn background_writes_wait_for_foreground_writes_until_they_are_due() {
        let (writes, waiting) = channel();
        let mut scheduler = WriteScheduler::new(&waiting);
        scheduler.background_due_at += HOUR;
        queue(&writes, &[true, false, true]);
        drop(writes);
        for expected in [vec![false], vec![true, true]] {
            assert!(scheduler.wait());
            assert_eq!(group(&mut scheduler), expected);
        }
        assert!(!scheduler.wait());
    }

    /// A group that is full ends without another call of `next`. Its background writes end when the writer waits.
    #[test]
    fn background_writes_end_when_the_writer_waits() {
        let (writes, waiting) = channel();
        let mut scheduler = WriteScheduler::new(&waiting);
        queue(&writes, &[true, true]);
        assert!(scheduler.next(false).is_some());
        assert!(scheduler.background_since.is_some());
        assert!(scheduler.wait());
        assert!(scheduler.background_since.is_none());
    }

    #[test]
    fn background_writes_are_followed_by_twenty_times_their_duration() {
        let (writes, waiting) = channel();
        let mut scheduler = WriteScheduler::new(&waiting);
        queue(&writes, &[true]);
        assert!(scheduler.next(false).is_some());
        let began = scheduler.background_since.unwrap();
        scheduler.background_since = began.checked_sub(HOUR);
        let now = Instant::now();
        assert!(scheduler.next(false).is_none());
        assert!(scheduler.background_due_at >= now + HOUR * BACKGROUND_WAIT_FACTOR);
    }
}
