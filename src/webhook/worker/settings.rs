//! What an operator may set.

use std::time::Duration;

use crate::webhook::Backoff;

/// The settings of a worker. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The waits between the attempts of a delivery. Default: 30 s, doubling, never more than one hour.
    pub backoff: Backoff,
    /// How many attempts are under way at once. Default: 256.
    pub at_once: u32,
    /// How many of them go to one endpoint. Default: 4.
    pub per_endpoint: u32,
    /// How long to sleep at most before looking for what other processes have written. Default: 1 s.
    pub poll: Duration,
    /// How long a step of an attempt may take: to ask whether the owner may be told, to send, to note how it ended.
    /// Default: 15 s. A transport's own limit has to be shorter.
    pub step: Duration,
    /// How long deliveries are kept that were delivered, gone or withheld. Default: 7 days.
    pub keep: Duration,
    /// How long to wait from one sweep of what is not kept to the next. Default: 1 hour.
    pub sweep: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            at_once: 256,
            per_endpoint: 4,
            poll: Duration::from_secs(1),
            step: Duration::from_secs(15),
            keep: Duration::from_secs(7 * 24 * 60 * 60),
            sweep: Duration::from_secs(60 * 60),
        }
    }
}

impl Settings {
    /// How long what a worker claims is its alone: four [steps](Self::step), 60 s by default, where an attempt has
    /// three. A worker that died holds up its deliveries for so long.
    pub fn lease(&self) -> Duration {
        self.step.saturating_mul(4)
    }
}
