//! How long it takes until the next attempt.

use std::time::Duration;

/// The waits between attempts (contract, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub initial: Duration,
    /// The longest wait.
    pub max: Duration,
}

impl Default for Backoff {
    /// 30 s to begin with, never more than one hour.
    fn default() -> Self {
        Self {
            initial: Duration::from_secs(30),
            max: Duration::from_secs(60 * 60),
        }
    }
}

impl Backoff {
    /// The wait after the `failed`th failure: the initial one, doubled with each failure before, and up to a fifth
    /// longer by `random` (0 to 1, without 1).
    pub fn wait(&self, failed: u32, random: f64) -> Duration {
        let doubled = 2f64.powi(i32::try_from(failed.saturating_sub(1)).unwrap_or(i32::MAX));
        self.spread(self.initial.as_secs_f64() * doubled, random)
    }

    /// Limits `wait` to at least the initial and at most the longest wait, and adds up to a fifth by `random` (0 to 1,
    /// without 1).
    #[cfg(feature = "webhooks")]
    pub(crate) fn bounded(&self, wait: Duration, random: f64) -> Duration {
        self.spread(wait.max(self.initial).as_secs_f64(), random)
    }

    fn spread(&self, seconds: f64, random: f64) -> Duration {
        let spread = Duration::try_from_secs_f64(seconds * (1.0 + 0.2 * random));
        spread.map_or(self.max, |wait| wait.min(self.max))
    }
}
