//! An executor with a manual clock.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::model::Timestamp;
use crate::runtime::{BoxFuture, Clock, ManualClock, Runtime};

/// Tasks that were polled so often without time going on go round and round.
const POLLS: u32 = 1_000_000;

/// Runs tasks on the thread of the test, one after the other, by a manual clock: nothing happens until
/// [`run`](Self::run) or [`pass`](Self::pass), and then everything that can, in the same order each time.
///
/// ```
/// # use std::{sync::Arc, time::Duration};
/// use forum_api::runtime::{ManualClock, Runtime};
/// use forum_api::test_util::ManualRuntime;
///
/// let runtime = ManualRuntime::new(Arc::new(ManualClock::default()));
/// runtime.detach(runtime.sleep(Duration::from_secs(3600)));
/// runtime.run();
/// assert!(runtime.asleep_until().is_some());
/// runtime.pass(Duration::from_secs(3600));
/// assert_eq!(runtime.asleep_until(), None);
/// ```
#[derive(Clone)]
pub struct ManualRuntime(Arc<Tasks>);

struct Tasks {
    clock: Arc<ManualClock>,
    ready: Mutex<VecDeque<Arc<Task>>>,
    /// By the time at which they wake, and a number of their own.
    sleepers: Mutex<BTreeMap<(Timestamp, u64), Waker>>,
    slept: AtomicU64,
    /// Woken when something from outside wakes a task.
    watcher: Mutex<Option<Waker>>,
}

struct Task {
    work: Mutex<Option<BoxFuture<'static, ()>>>,
    home: Weak<Tasks>,
}

impl ManualRuntime {
    /// A runtime that sleeps by `clock`.
    pub fn new(clock: Arc<ManualClock>) -> Self {
        Self(Arc::new(Tasks {
            clock,
            ready: Mutex::default(),
            sleepers: Mutex::default(),
            slept: AtomicU64::default(),
            watcher: Mutex::default(),
        }))
    }

    /// Runs all tasks until none can go on before time does.
    ///
    /// # Panics
    /// When they go round and round without ever sleeping.
    #[expect(clippy::panic, reason = "a test whose tasks spin is to fail")]
    pub fn run_until_idle(&self) {
        for _ in 0..POLLS {
            self.0.wake_sleepers();
            let Some(task) = lock(&self.0.ready).pop_front() else {
                return;
            };
            task.poll();
        }
        panic!("tasks are still running after {POLLS} polls");
    }

    /// Lets time pass: it stops whenever a task wakes, and goes on when all that can have run.
    pub fn advance(&self, duration: Duration) {
        self.run_until_idle();
        let end = self.0.clock.now().saturating_add(duration);
        while self.advance_to_next_timer(end) {
            self.run_until_idle();
        }
    }

    /// Lets time pass until the next task wakes, or until `end` if that is sooner. Returns whether one does.
    pub fn advance_to_next_timer(&self, end: Timestamp) -> bool {
        let next = self.next_timer().filter(|next| *next <= end);
        let now = self.0.clock.now();
        self.0
            .clock
            .advance(next.unwrap_or(end).saturating_duration_since(now));
        next.is_some()
    }

    /// Runs all tasks until `done`, and waits in between for whatever wakes them that is outside: a socket, or a
    /// thread. No time passes.
    pub async fn run_until(&self, done: impl Fn() -> bool) {
        let run = |context: &mut Context<'_>| {
            *lock(&self.0.watcher) = Some(context.waker().clone());
            self.run_until_idle();
            if done() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        };
        poll_fn(run).await;
    }

    /// When the next task wakes by itself; `None` when none sleeps.
    pub fn next_timer(&self) -> Option<Timestamp> {
        let sleepers = lock(&self.0.sleepers);
        sleepers.first_key_value().map(|((at, _), _)| *at)
    }

    /// How many sleeps have not ended.
    pub fn pending_timers(&self) -> usize {
        lock(&self.0.sleepers).len()
    }

    /// Runs `future`, and all tasks beside it, until it is ready. No time passes.
    ///
    /// # Panics
    /// When it cannot end before time goes on.
    #[expect(clippy::panic, reason = "a test that never ends is to fail")]
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..POLLS {
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
        let end = Arc::new(Mutex::new(End::default()));
        let ended = Arc::clone(&end);
        let task = Task {
            work: Mutex::new(Some(Box::pin(async move {
                work.await;
                lock(&end).reach();
            }))),
            home: Arc::downgrade(&self.0),
        };
        Arc::new(task).wake();
        Box::pin(poll_fn(move |context| lock(&ended).poll(context)))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let at = self.0.clock.now().saturating_add(duration);
        let sleep = Sleep {
            home: Arc::clone(&self.0),
            key: (at, self.0.slept.fetch_add(1, Ordering::Relaxed)),
        };
        Box::pin(poll_fn(move |context| sleep.poll(context)))
    }
}

impl fmt::Debug for ManualRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualRuntime")
            .field("asleep_until", &self.next_timer())
            .finish_non_exhaustive()
    }
}

impl Tasks {
    fn wake_sleepers(&self) {
        let due = (self.clock.now(), u64::MAX);
        let mut sleepers = lock(&self.sleepers);
        let asleep = sleepers.split_off(&due);
        let awake = std::mem::replace(&mut *sleepers, asleep);
        drop(sleepers);
        awake.into_values().for_each(Waker::wake);
    }
}

impl Task {
    fn poll(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let mut work = lock(&self.work);
        let polled = work
            .as_mut()
            .map(|work| work.as_mut().poll(&mut Context::from_waker(&waker)));
        if polled.is_some_and(|polled| polled.is_ready()) {
            *work = None;
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if let Some(home) = self.home.upgrade() {
            lock(&home.ready).push_back(self);
            lock(&home.watcher).iter().for_each(Waker::wake_by_ref);
        }
    }
}

/// Whether a task has ended, and who waits for it.
#[derive(Default)]
struct End {
    reached: bool,
    waits: Option<Waker>,
}

impl End {
    fn reach(&mut self) {
        self.reached = true;
        self.waits.take().into_iter().for_each(Waker::wake);
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.reached {
            return Poll::Ready(());
        }
        self.waits = Some(context.waker().clone());
        Poll::Pending
    }
}

struct Sleep {
    home: Arc<Tasks>,
    key: (Timestamp, u64),
}

impl Sleep {
    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let (at, _) = self.key;
        if at <= self.home.clock.now() {
            return Poll::Ready(());
        }
        lock(&self.home.sleepers).insert(self.key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        // What it wakes may be dropped with it, and that may sleep too.
        let waker = lock(&self.home.sleepers).remove(&self.key);
        drop(waker);
    }
}

/// A task that panicked has failed its test, and what it left is of no use.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
