//! Bounded job queue of the reader threads, which reserves threads for short jobs.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::lock::lock;

/// Class of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Runs on any thread.
    Short,
    /// Runs on a limited number of threads at once.
    Ordinary,
    /// An ordinary job that can take long. It runs on fewer threads, so that one is free for other ordinary jobs.
    Long,
}

/// Bounds of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum number of waiting jobs of each class.
    pub(super) waiting: usize,
    /// Maximum number of running ordinary and long jobs.
    pub(super) running: usize,
    /// Maximum number of running long jobs.
    pub(super) running_long: usize,
}

/// Jobs that wait for a thread.
pub(super) struct JobQueue<T> {
    bounds: Bounds,
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// State of the queue. Each waiting job has its position in the order of arrival.
struct State<T> {
    short: VecDeque<(u64, T)>,
    ordinary: VecDeque<(u64, T)>,
    long: VecDeque<(u64, T)>,
    pushed: u64,
    /// Number of running ordinary and long jobs.
    running: usize,
    /// Number of running long jobs.
    running_long: usize,
    /// Number of threads that wait for a job.
    idle: usize,
    /// `true` if a thread was woken and has not looked for a job yet.
    waking: bool,
    closed: bool,
}

/// Sender of a queue. Dropping it closes the queue.
pub(super) struct JobSender<T>(Arc<JobQueue<T>>);

pub(super) fn queue<T>(bounds: Bounds) -> (JobSender<T>, Arc<JobQueue<T>>) {
    let state = State {
        short: VecDeque::new(),
        ordinary: VecDeque::new(),
        long: VecDeque::new(),
        pushed: 0,
        running: 0,
        running_long: 0,
        idle: 0,
        waking: false,
        closed: false,
    };
    let queue = Arc::new(JobQueue { bounds, state: Mutex::new(state), changed: Condvar::new() });
    (JobSender(Arc::clone(&queue)), queue)
}

impl<T> JobSender<T> {
    /// Appends a job. Returns `false`, and drops the job, if the queue of its class is full.
    pub(super) fn push(&self, class: Class, job: T) -> bool {
        let mut state = lock(&self.0.state);
        let position = state.pushed;
        let waiting = state.waiting(class);
        if waiting.len() >= self.0.bounds.waiting {
            return false;
        }
        waiting.push_back((position, job));
        state.pushed += 1;
        self.0.wake_one(state);
        true
    }

    /// Returns the numbers of all threads and of those that wait for a job. One thread runs only short jobs.
    pub(super) fn threads(&self) -> [usize; 2] {
        [self.0.bounds.running + 1, lock(&self.0.state).idle]
    }
}

impl<T> Drop for JobSender<T> {
    fn drop(&mut self) {
        lock(&self.0.state).closed = true;
        self.0.changed.notify_all();
    }
}

impl<T> JobQueue<T> {
    /// Waits for the oldest job that can run. `finished` is the class of the thread's previous job. Returns `None` when the
    /// queue is closed and empty.
    pub(super) fn next(&self, finished: Option<Class>) -> Option<(Class, T)> {
        let mut state = lock(&self.state);
        if let Some(class) = finished {
            state.count(class, |running| running.saturating_sub(1));
        }
        loop {
            if let Some(job) = state.take(self.bounds) {
                if state.runnable(self.bounds).is_some() {
                    self.wake_one(state);
                }
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            state.waking = false;
        }
    }

    /// Wakes a thread, unless one is waking already: that thread wakes the next one if more jobs can run.
    fn wake_one(&self, mut state: MutexGuard<'_, State<T>>) {
        if state.idle > 0 && !state.waking {
            state.waking = true;
            drop(state);
            self.changed.notify_one();
        }
    }
}

impl<T> State<T> {
    fn waiting(&mut self, class: Class) -> &mut VecDeque<(u64, T)> {
        match class {
            Class::Short => &mut self.short,
            Class::Ordinary => &mut self.ordinary,
            Class::Long => &mut self.long,
        }
    }

    /// Changes the numbers of running jobs to which a job of this class counts.
    fn count(&mut self, class: Class, change: fn(usize) -> usize) {
        if class != Class::Short {
            self.running = change(self.running);
        }
        if class == Class::Long {
            self.running_long = change(self.running_long);
        }
    }

    /// Returns the class of the oldest job that can run. The limits of running jobs do not apply to a closed queue.
    fn runnable(&self, bounds: Bounds) -> Option<Class> {
        let can_run = self.closed || self.running < bounds.running;
        let can_run_long = self.closed || can_run && self.running_long < bounds.running_long;
        let candidates = [
            (Class::Short, &self.short, true),
            (Class::Ordinary, &self.ordinary, can_run),
            (Class::Long, &self.long, can_run_long),
        ];
        let oldest = candidates
            .into_iter()
            .filter(|(_, _, can_run)| *can_run)
            .filter_map(|(class, jobs, _)| Some((jobs.front()?.0, class)))
            .min_by_key(|(position, _)| *position);
        oldest.map(|(_, class)| class)
    }

    fn take(&mut self, bounds: Bounds) -> Option<(Class, T)> {
        let class = self.runnable(bounds)?;
        let (_, job) = self.waiting(class).pop_front()?;
        self.count(class, |running| running + 1);
        Some((class, job))
    }
}

#[cfg(test)]
mod tests {
    use super::Class::{Long, Ordinary, Short};
    use super::*;

    const BOUNDS: Bounds = Bounds { waiting: 3, running: 1, running_long: 1 };

    #[test]
    fn a_full_queue_refuses_jobs_of_its_class_only() {
        let (jobs, queue) = queue(BOUNDS);
        for class in [Ordinary, Short, Long] {
            assert!([1, 2, 3].iter().all(|job| jobs.push(class, *job)));
            assert!(!jobs.push(class, 4));
        }
        assert_eq!(queue.next(None), Some((Ordinary, 1)));
        assert!(jobs.push(Ordinary, 4));
        assert!(!jobs.push(Short, 4));
    }

    /// Jobs run in the order of arrival, but ordinary jobs leave one thread free for short jobs. A closed queue is
    /// emptied.
    #[test]
    fn jobs_are_taken_in_order_within_the_limits_of_their_class() {
        let (jobs, queue) = queue(BOUNDS);
        for (class, job) in [(Short, 1), (Ordinary, 2), (Ordinary, 3), (Short, 4)] {
            jobs.push(class, job);
        }
        assert_eq!(queue.next(None), Some((Short, 1)));
        assert_eq!(queue.next(None), Some((Ordinary, 2)));
        assert_eq!(queue.next(None), Some((Short, 4)));
        assert_eq!(queue.next(Some(Ordinary)), Some((Ordinary, 3)));
        for job in [5, 6] {
            jobs.push(Ordinary, job);
        }
        drop(jobs);
        assert_eq!(queue.next(None), Some((Ordinary, 5)));
        assert_eq!(queue.next(None), Some((Ordinary, 6)));
        assert_eq!(queue.next(Some(Ordinary)), None);
    }

    /// Long jobs leave one thread free for ordinary jobs.
    #[test]
    fn long_jobs_do_not_delay_ordinary_jobs() {
        let (jobs, queue) = queue(Bounds { waiting: 3, running: 2, running_long: 1 });
        for (class, job) in [(Long, 1), (Long, 2), (Ordinary, 3), (Ordinary, 4), (Short, 5)] {
            jobs.push(class, job);
        }
        assert_eq!(queue.next(None), Some((Long, 1)));
        assert_eq!(queue.next(None), Some((Ordinary, 3)));
        assert_eq!(queue.next(None), Some((Short, 5)));
        assert_eq!(queue.next(Some(Ordinary)), Some((Ordinary, 4)));
        assert_eq!(queue.next(Some(Long)), Some((Long, 2)));
    }
}
