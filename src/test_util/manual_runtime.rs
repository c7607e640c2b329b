//! An executor with a manual clock.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::lock::lock;
use crate::model::Timestamp;
use crate::runtime::{BoxFuture, Clock, ManualClock, Runtime};

/// Maximum number of polls without an advance of time; more indicate a busy loop.
const MAX_POLLS: u32 = 1_000_000;

/// Runs tasks on the thread of the test, one after the other, with a manual clock. Tasks run only inside of its
/// methods, and in the same order each time.
///
/// ```
/// # use std::{sync::Arc, time::Duration};
/// use forum_api::runtime::{ManualClock, Runtime};
/// use forum_api::test_util::ManualRuntime;
///
/// let runtime = ManualRuntime::new(Arc::new(ManualClock::default()));
/// runtime.spawn(runtime.sleep(Duration::from_secs(3600)));
/// runtime.run_until_idle();
/// assert!(runtime.next_timer().is_some());
/// runtime.advance(Duration::from_secs(3600));
/// assert_eq!(runtime.next_timer(), None);
/// ```
#[doc(hidden)]
#[derive(Clone)]
pub struct ManualRuntime(Arc<Tasks>);

struct Tasks {
    clock: Arc<ManualClock>,
    ready: Mutex<VecDeque<Arc<Task>>>,
    /// Wakers of the timers, by wake-up time and a unique number.
    timers: Mutex<BTreeMap<(Timestamp, u64), Waker>>,
    timer_count: AtomicU64,
}

struct Task {
    work: Mutex<Option<BoxFuture<'static, ()>>>,
    tasks: Weak<Tasks>,
}

impl ManualRuntime {
    /// Creates a runtime whose timers use `clock`.
    pub fn new(clock: Arc<ManualClock>) -> Self {
        Self(Arc::new(Tasks {
            clock,
            ready: Mutex::default(),
            timers: Mutex::default(),
            timer_count: AtomicU64::default(),
        }))
    }

    /// Runs all tasks until each of them waits.
    ///
    /// # Panics
    /// If tasks are still ready after 1,000,000 polls.
    #[expect(clippy::panic, reason = "a busy loop fails the test")]
    pub fn run_until_idle(&self) {
        for _ in 0..MAX_POLLS {
            self.0.wake_due_timers();
            let Some(task) = lock(&self.0.ready).pop_front() else {
                return;
            };
            task.poll();
        }
        panic!("tasks are still running after {MAX_POLLS} polls");
    }

    /// Advances the clock by `duration`, in steps from timer to timer, and runs all tasks at each step.
    pub fn advance(&self, duration: Duration) {
        self.run_until_idle();
        let end = self.0.clock.now().saturating_add(duration);
        loop {
            let next = self.next_timer().filter(|next| *next <= end);
            let now = self.0.clock.now();
            let step = next.unwrap_or(end).saturating_duration_since(now);
            self.0.clock.advance(step);
            if next.is_none() {
                return;
            }
            self.run_until_idle();
        }
    }

    /// Returns the time of the next timer; `None` if there is no timer.
    pub fn next_timer(&self) -> Option<Timestamp> {
        let timers = lock(&self.0.timers);
        timers.first_key_value().map(|((at, _), _)| *at)
    }

    /// Runs `future` and all tasks until it is ready. Does not advance the clock.
    ///
    /// # Panics
    /// If the future is still pending after 1,000,000 polls.
    #[expect(clippy::panic, reason = "a future that never completes fails the test")]
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..MAX_POLLS {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            self.run_until_idle();
        }
        panic!("the future cannot complete: all tasks are asleep");
    }
}

impl Runtime for ManualRuntime {
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let completion = Arc::new(Mutex::new(TaskCompletion::default()));
        let handle = Arc::clone(&completion);
        let task = Task {
            work: Mutex::new(Some(Box::pin(async move {
                work.await;
                lock(&completion).complete();
            }))),
            tasks: Arc::downgrade(&self.0),
        };
        Arc::new(task).wake();
        Box::pin(poll_fn(move |context| lock(&handle).poll(context)))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let at = self.0.clock.now().saturating_add(duration);
        let sleep = Sleep {
            tasks: Arc::clone(&self.0),
            key: (at, self.0.timer_count.fetch_add(1, Ordering::Relaxed)),
        };
        Box::pin(poll_fn(move |context| sleep.poll(context)))
    }
}

debug_fields!(ManualRuntime, |it| next_timer: it.next_timer());

impl Tasks {
    fn wake_due_timers(&self) {
        let due = (self.clock.now(), u64::MAX);
        let mut timers = lock(&self.timers);
        let pending = timers.split_off(&due);
        let woken = std::mem::replace(&mut *timers, pending);
        drop(timers);
        woken.into_values().for_each(Waker::wake);
    }
}

impl Task {
    fn poll(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let mut work = lock(&self.work);
        let mut context = Context::from_waker(&waker);
        let polled = work.as_mut().map(|work| work.as_mut().poll(&mut context));
        if polled.is_some_and(|polled| polled.is_ready()) {
            *work = None;
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if let Some(tasks) = self.tasks.upgrade() {
            lock(&tasks.ready).push_back(self);
        }
    }
}

/// Completion of a task.
#[derive(Default)]
struct TaskCompletion {
    is_complete: bool,
    waker: Option<Waker>,
}

impl TaskCompletion {
    fn complete(&mut self) {
        self.is_complete = true;
        self.waker.take().into_iter().for_each(Waker::wake);
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.is_complete {
            return Poll::Ready(());
        }
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

struct Sleep {
    tasks: Arc<Tasks>,
    key: (Timestamp, u64),
}

impl Sleep {
    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let (at, _) = self.key;
        if at <= self.tasks.clock.now() {
            return Poll::Ready(());
        }
        lock(&self.tasks.timers).insert(self.key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        // Dropping the waker may drop a task and its timers. This needs the lock, so the lock is released first.
        let waker = lock(&self.tasks.timers).remove(&self.key);
        drop(waker);
    }
}
