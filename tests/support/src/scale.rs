//! Size and duration of a drill.

use std::env;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Number of nodes that serve the API.
    pub servers: usize,
    /// Number of nodes that deliver webhooks.
    pub workers: usize,
    /// Time under load: 10 s, or `FORUM_API_DRILL_SECONDS`.
    pub load_duration: Duration,
    /// Ends the leases of killed workers instead of waiting for them.
    pub ends_leases_early: bool,
}

impl Scale {
    pub fn new(servers: usize, workers: usize) -> Self {
        let seconds = env::var("FORUM_API_DRILL_SECONDS").ok();
        let load = seconds.as_ref().map_or(10, |all| all.parse().unwrap());
        Self {
            servers,
            workers,
            load_duration: Duration::from_secs(load),
            ends_leases_early: seconds.is_none(),
        }
    }
}
