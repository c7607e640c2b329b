//! How large a drill is.

use std::env;
use std::time::Duration;

/// How many nodes a drill has, and for how long they are under load.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Nodes that serve.
    pub servers: usize,
    /// Nodes that send webhooks.
    pub workers: usize,
    /// The time under load.
    pub load_duration: Duration,
    /// Whether leases of the dead are ended at once, rather than waited for.
    pub ends_leases_early: bool,
}

impl Scale {
    /// A short one, or as long as `FORUM_DRILL_SECONDS` says.
    pub fn new(servers: usize, workers: usize) -> Self {
        let seconds = env::var("FORUM_DRILL_SECONDS").ok();
        Self {
            servers,
            workers,
            load_duration: Duration::from_secs(seconds.as_ref().map_or(10, |all| all.parse().unwrap())),
            ends_leases_early: seconds.is_none(),
        }
    }
}
