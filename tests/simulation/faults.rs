//! Faults of stores and of the board, which the seed chooses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use forum_api::host::BackendError;
use forum_api::runtime::BoxFuture;
use forum_api::test_util::Intervention;

use crate::scheduler::Scheduler;

/// Source of faults, which all processes share.
#[derive(Clone)]
pub(crate) struct Faults {
    scheduler: Scheduler,
    percent: Arc<AtomicU64>,
}

impl Faults {
    pub(crate) fn new(scheduler: &Scheduler) -> Self {
        Self { scheduler: scheduler.clone(), percent: Arc::default() }
    }

    /// Sets the share of calls with a fault.
    pub(crate) fn set_percent(&self, percent: u64) {
        self.percent.store(percent, Ordering::SeqCst);
    }

    /// Returns `true` if calls can have faults.
    pub(crate) fn is_active(&self) -> bool {
        self.percent.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn chance(&self, percent: u64) -> bool {
        self.scheduler.choose(|random| random.chance(percent))
    }

    /// Chooses what happens to a call. Without a fault, other tasks can run before or after it.
    pub(crate) fn choose(&self) -> Intervention {
        let percent = self.percent.load(Ordering::SeqCst);
        let (choice, seconds) = self.scheduler.choose(|random| {
            let is_faulty = random.chance(percent);
            let choice = if is_faulty { random.below(6) } else { 6 + random.below(4) };
            (choice, random.below(25))
        });
        let wait = || self.scheduler.sleep(Duration::from_secs(seconds));
        match choice {
            0 => Intervention::Fail,
            1 => Intervention::LoseResult,
            2 => Intervention::Hang,
            3 => Intervention::Delay(wait()),
            4 => Intervention::DelayResult(wait()),
            5 => Intervention::DelayResult(Box::pin(std::future::pending())),
            6 => Intervention::Delay(yield_once()),
            7 => Intervention::DelayResult(yield_once()),
            _ => Intervention::Proceed,
        }
    }

    /// Chooses whether a call of the panel fails, loses its result or hangs.
    pub(crate) fn choose_failure(&self) -> Intervention {
        let percent = self.percent.load(Ordering::SeqCst);
        let choice = self.scheduler.choose(|random| random.below(400));
        match choice.checked_div(percent) {
            Some(0) => Intervention::Fail,
            Some(1) => Intervention::LoseResult,
            Some(2) => Intervention::Hang,
            Some(3) => Intervention::DelayResult(Box::pin(std::future::pending())),
            _ => Intervention::Proceed,
        }
    }

    /// Runs a call of the board with a fault.
    pub(crate) async fn call<T, E: From<BackendError>>(
        &self,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let unreachable = || E::from(BackendError::new("the board is unreachable"));
        match self.choose() {
            Intervention::Fail => Err(unreachable()),
            Intervention::Hang => std::future::pending().await,
            Intervention::Delay(delay) => {
                delay.await;
                call.await
            }
            Intervention::DelayResult(delay) => {
                let result = call.await;
                delay.await;
                result
            }
            Intervention::LoseResult => {
                drop(call.await);
                Err(unreachable())
            }
            _ => call.await,
        }
    }
}

/// Lets other tasks run.
fn yield_once() -> BoxFuture<'static, ()> {
    let mut has_yielded = false;
    Box::pin(std::future::poll_fn(move |context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }))
}
