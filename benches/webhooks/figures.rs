//! Figures of several rounds.

use std::time::Duration;

/// One figure of each round.
#[derive(Debug, Default)]
pub struct Figures(Vec<f64>);

impl Figures {
    pub fn add(&mut self, figure: f64) {
        self.0.push(figure);
        self.0.sort_by(f64::total_cmp);
    }

    pub fn least(&self) -> f64 {
        self.0[0]
    }

    pub fn most(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    /// Tells the least, the median and the most.
    pub fn tell(&self, what: &str) {
        let median = self.0[self.0.len() / 2];
        println!(
            "  {what}: {:.2} {median:.2} {:.2}",
            self.least(),
            self.most()
        );
    }
}

/// The time that half of them keep to, and the one that 99 % do, in milliseconds, of each round.
#[derive(Debug, Default)]
pub struct Times {
    pub p50: Figures,
    pub p99: Figures,
}

impl Times {
    pub fn add(&mut self, mut times: Vec<Duration>) {
        times.sort_unstable();
        let part = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
        self.p50.add(part(50));
        self.p99.add(part(99));
    }

    pub fn tell(&self, what: &str) {
        self.p50.tell(&format!("{what}, p50 in ms"));
        self.p99.tell(&format!("{what}, p99 in ms"));
    }

    /// Tells how many times as long this takes as `baseline`.
    pub fn compare(&self, what: &str, baseline: &Self) {
        let p50 = self.p50.least() / baseline.p50.least();
        let p99 = self.p99.least() / baseline.p99.least();
        println!("  {what}, ratio of p50 {p50:.2}, of p99 {p99:.2}");
    }
}
