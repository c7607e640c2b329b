//! The scheduler: polls the tasks of all processes on one thread, in an order that the seed chooses.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::runtime::{BoxFuture, Clock, Runtime};

use crate::random::Random;

/// Beginning of each simulation.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// Largest difference of the clock of a process to the true time. Drift ends when it is reached.
pub(crate) const MAX_DIFFERENCE: Duration = Duration::from_secs(2 * 3600);

/// Maximum number of polls without an advance of time; more indicate a busy loop.
const MAX_POLLS: u32 = 100_000;

/// Number of a process, unique in a simulation: a process that starts again has a new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProcessId(pub(crate) u32);

#[derive(Clone)]
pub(crate) struct Scheduler(Arc<Mutex<State>>);

struct State {
    /// The true time. The clocks of processes can differ from it.
    now: Timestamp,
    random: Random,
    tasks: BTreeMap<u64, Task>,
    ready: BTreeSet<u64>,
    /// Wakers of the timers, by wake-up time and a unique number.
    timers: BTreeMap<(Timestamp, u64), Waker>,
    next_number: u64,
    running: BTreeSet<ProcessId>,
}

struct Task {
    process: ProcessId,
    /// `None` while the task is polled.
    work: Option<BoxFuture<'static, ()>>,
}

impl Scheduler {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            now: START,
            random: Random::new(0),
            tasks: BTreeMap::new(),
            ready: BTreeSet::new(),
            timers: BTreeMap::new(),
            next_number: 0,
            running: BTreeSet::new(),
        })))
    }

    fn with<T>(&self, run: impl FnOnce(&mut State) -> T) -> T {
        run(&mut self.0.lock().unwrap())
    }

    /// Begins the choices of a step, which do not depend on the steps before it.
    pub(crate) fn set_random(&self, seed: u64) {
        self.with(|state| state.random = Random::new(seed));
    }

    pub(crate) fn choose<T>(&self, choose: impl FnOnce(&mut Random) -> T) -> T {
        self.with(|state| choose(&mut state.random))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.with(|state| state.now)
    }

    pub(crate) fn start_process(&self, process: ProcessId) {
        self.with(|state| state.running.insert(process));
    }

    /// Ends a process between two polls: drops its tasks.
    pub(crate) fn kill(&self, process: ProcessId) {
        let killed = self.with(|state| {
            state.running.remove(&process);
            let ids: Vec<_> = state
                .tasks
                .iter()
                .filter(|(_, task)| task.process == process)
                .map(|(id, _)| *id)
                .collect();
            state.ready.retain(|id| !ids.contains(id));
            ids.iter().filter_map(|id| state.tasks.remove(id)).collect::<Vec<_>>()
        });
        drop(killed);
    }

    /// Drops all tasks. Tasks and the scheduler refer to each other, so that neither is freed without this call.
    pub(crate) fn kill_all(&self) {
        drop(self.with(|state| mem::take(&mut state.tasks)));
    }

    /// Polls up to `limit` ready tasks. Returns the number of polls.
    pub(crate) fn run(&self, limit: u32) -> u32 {
        for polls in 0..limit {
            self.wake_due_timers();
            let Some((id, mut work)) = self.take_ready() else {
                return polls;
            };
            let waker = Waker::from(Arc::new(TaskWaker { id, state: Arc::downgrade(&self.0) }));
            let is_complete = work.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
            if is_complete {
                drop(work);
                self.with(|state| state.tasks.remove(&id));
            } else {
                self.with(|state| {
                    if let Some(task) = state.tasks.get_mut(&id) {
                        task.work = Some(work);
                    }
                });
            }
        }
        limit
    }

    fn wake_due_timers(&self) {
        let woken = self.with(|state| {
            let pending = state.timers.split_off(&(state.now, u64::MAX));
            mem::replace(&mut state.timers, pending)
        });
        woken.into_values().for_each(Waker::wake);
    }

    /// Chooses one of the ready tasks. Returns its number and its future.
    fn take_ready(&self) -> Option<(u64, BoxFuture<'static, ()>)> {
        self.with(|state| {
            let choice = state.random.index(state.ready.len().max(1));
            let id = *state.ready.iter().nth(choice)?;
            state.ready.remove(&id);
            Some((id, state.tasks.get_mut(&id)?.work.take()?))
        })
    }

    /// Polls tasks until each of them waits.
    pub(crate) fn run_until_idle(&self) {
        let polls = self.run(MAX_POLLS);
        assert!(polls < MAX_POLLS, "tasks are still running after {MAX_POLLS} polls");
    }

    /// Advances the true time, in steps from timer to timer, and runs all tasks at each step.
    pub(crate) fn advance(&self, duration: Duration) {
        let end = self.now().saturating_add(duration);
        loop {
            self.run_until_idle();
            let next = self.with(|state| state.timers.first_key_value().map(|((at, _), _)| *at));
            match next.filter(|next| *next <= end) {
                Some(next) => self.with(|state| state.now = next.max(state.now)),
                None => break,
            }
        }
        self.with(|state| state.now = end);
    }

    pub(crate) fn spawn(&self, process: ProcessId, work: BoxFuture<'static, ()>) {
        let refused = self.with(|state| {
            if !state.running.contains(&process) {
                return Some(work);
            }
            let id = state.next_number;
            state.next_number += 1;
            state.tasks.insert(id, Task { process, work: Some(work) });
            state.ready.insert(id);
            None
        });
        drop(refused);
    }

    /// Returns a future that is ready after `duration` of the true time.
    pub(crate) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let number = self.with(|state| {
            state.next_number += 1;
            state.next_number
        });
        let key = (self.now().saturating_add(duration), number);
        let timer = Timer { scheduler: self.clone(), key };
        Box::pin(poll_fn(move |context| timer.poll(context)))
    }
}

struct TaskWaker {
    id: u64,
    state: Weak<Mutex<State>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let Some(state) = self.state.upgrade() else {
            return;
        };
        let mut state = state.lock().unwrap();
        if state.tasks.contains_key(&self.id) {
            state.ready.insert(self.id);
        }
    }
}

struct Timer {
    scheduler: Scheduler,
    key: (Timestamp, u64),
}

impl Timer {
    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let waker = context.waker().clone();
        self.scheduler.with(|state| {
            if self.key.0 <= state.now {
                return Poll::Ready(());
            }
            state.timers.insert(self.key, waker);
            Poll::Pending
        })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waker = self.scheduler.with(|state| state.timers.remove(&self.key));
        drop(waker);
    }
}

/// Runtime of one process.
#[derive(Clone)]
pub(crate) struct ProcessRuntime {
    pub(crate) scheduler: Scheduler,
    pub(crate) process: ProcessId,
}

impl std::fmt::Debug for ProcessRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.process)
    }
}

impl Runtime for ProcessRuntime {
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let (sender, completion) = tokio::sync::oneshot::channel::<()>();
        self.scheduler.spawn(
            self.process,
            Box::pin(async move {
                work.await;
                drop(sender);
            }),
        );
        Box::pin(async move { drop(completion.await) })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.scheduler.sleep(duration)
    }
}

/// Clock of a process, which can be ahead or behind, and drift or stop.
pub(crate) struct ProcessClock {
    scheduler: Scheduler,
    /// Time at which the clock was set.
    set_at: AtomicI64,
    /// Difference to the true time when the clock was set, in milliseconds.
    offset: AtomicI64,
    /// Milliseconds that the clock gains in an hour.
    drift: AtomicI64,
}

impl ProcessClock {
    pub(crate) fn new(scheduler: &Scheduler) -> Self {
        let [set_at, offset, drift] = [START.as_millis(), 0, 0].map(AtomicI64::new);
        Self { scheduler: scheduler.clone(), set_at, offset, drift }
    }

    pub(crate) fn set(&self, offset_seconds: i64, drift: i64) {
        self.set_at.store(self.scheduler.now().as_millis(), Ordering::SeqCst);
        self.offset.store(offset_seconds * 1000, Ordering::SeqCst);
        self.drift.store(drift, Ordering::SeqCst);
    }
}

impl std::fmt::Debug for ProcessClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.now())
    }
}

impl Clock for ProcessClock {
    fn now(&self) -> Timestamp {
        let now = self.scheduler.now().as_millis();
        let elapsed = now - self.set_at.load(Ordering::SeqCst);
        let drift = elapsed * self.drift.load(Ordering::SeqCst) / 3_600_000;
        let difference = self.offset.load(Ordering::SeqCst) + drift;
        let most = MAX_DIFFERENCE.as_millis() as i64;
        Timestamp::from_millis(now + difference.clamp(-most, most))
    }
}
