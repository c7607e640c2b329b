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
    /// Time limit of a step of an attempt: the check of the owner, opening the secret, recording that sending begins,
    /// sending, recording the end. Default: 15 s. A transport's own limit has to be shorter.
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
    /// Duration of a lease: four [steps](Self::step), 60 s by default. Nothing is sent unless the rest of the lease covers
    /// a step. The deliveries of a worker that died wait for so long.
    pub fn lease(&self) -> Duration {
        self.step.saturating_mul(4)
    }
}
