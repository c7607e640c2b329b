//! Requests of one kind and their times.

use std::time::Duration;

use crate::connection::Connection;
use crate::measurements::Samples;
use crate::number;

/// The times of one kind of request with its caller.
pub struct Measurement {
    pub what: String,
    /// The paths, requested in turn.
    paths: Vec<String>,
    token: Option<String>,
    p50: Samples,
    p99: Samples,
}

impl Measurement {
    /// Creates a measurement of these paths with this token.
    pub fn new(what: impl Into<String>, paths: Vec<String>, token: Option<&str>) -> Self {
        Self {
            what: what.into(),
            paths,
            token: token.map(Into::into),
            p50: Samples::default(),
            p99: Samples::default(),
        }
    }

    /// Requests each path once, to warm the caches.
    pub fn warm(&self, line: &mut Connection) {
        for path in &self.paths {
            line.time(path, self.token.as_deref());
        }
    }

    /// Runs a round; returns p50 and p99 in milliseconds.
    pub fn round(&mut self, line: &mut Connection) -> [f64; 2] {
        let requests = number("REQUESTS", 100) as usize;
        let paths = self.paths.iter().cycle().take(requests);
        let mut times: Vec<Duration> = paths
            .map(|path| line.time(path, self.token.as_deref()))
            .collect();
        times.sort_unstable();
        let part = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
        let [p50, p99] = [part(50), part(99)];
        self.p50.add(p50);
        self.p99.add(p99);
        [p50, p99]
    }

    pub fn report(&self) {
        self.p50.report(&format!("{}, p50 in ms", self.what));
        self.p99.report(&format!("{}, p99 in ms", self.what));
    }
}
