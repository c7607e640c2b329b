//! Wakeup and health of a loop of the worker.

use std::sync::Mutex;

use tokio::sync::Notify;

use crate::lock::lock;
use crate::model::Timestamp;

#[derive(Debug)]
pub(super) struct PollLoop {
    /// Name in the log.
    pub(super) name: &'static str,
    pub(super) wakeup: Notify,
    health: Mutex<LoopHealth>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopHealth {
    pub(super) last_success_at: Option<Timestamp>,
    pub(super) consecutive_failures: u32,
}

impl PollLoop {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, wakeup: Notify::default(), health: Mutex::default() }
    }

    /// Ends the current sleep of the loop. If the loop does not sleep, ends its next sleep at once.
    pub(super) fn notify(&self) {
        self.wakeup.notify_one();
    }

    pub(super) fn health(&self) -> LoopHealth {
        *lock(&self.health)
    }

    pub(super) fn record_success(&self, now: Timestamp) {
        *lock(&self.health) = LoopHealth { last_success_at: Some(now), consecutive_failures: 0 };
    }

    /// Records that an iteration that failed in part has done something.
    pub(super) fn record_progress(&self, now: Timestamp) {
        lock(&self.health).last_success_at = Some(now);
    }

    /// Returns the number of consecutive failures.
    pub(super) fn record_failure(&self) -> u32 {
        let mut health = lock(&self.health);
        health.consecutive_failures = health.consecutive_failures.saturating_add(1);
        health.consecutive_failures
    }
}
