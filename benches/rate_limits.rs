//! Memory of 1,000,000 live budgets of rate limits, with the allocator of the C library: `cargo bench -p forum-benches
//! --bench rate_limits`. Takes ten seconds.

use std::fs;
use std::time::Duration;

use forum_api::rate_limit::{Budget, RateLimitKey};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore as _;
use forum_api::store::memory::MemoryRateLimitStore;

use forum_benches::measurements::{Goal, ROUNDS, Row, Samples};

const PREFIXES: u32 = 1_000_000;

const WINDOW: Budget = Budget {
    units: u32::MAX,
    window: Duration::from_secs(300),
};

#[tokio::main]
async fn main() {
    let mut memory = Samples::default();
    // All stores stay alive, so that none reuses the memory of another.
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        let before = resident_megabytes();
        let budgets = MemoryRateLimitStore::default();
        charge_each(&budgets).await;
        memory.add(resident_megabytes() - before);
        all.push(budgets);
    }
    Row {
        what: "rate limits, 1,000,000 live prefixes, memory",
        unit: "MB",
        baseline: "none",
        goal: Goal::AtMost(64.0),
        cause: "",
    }
    .write(&memory);
}

async fn charge_each(budgets: &MemoryRateLimitStore) {
    let now = SystemClock.now();
    for number in 0..PREFIXES {
        let prefix = RateLimitKey::Prefix(0x2001_0db8 << 96 | u128::from(number) << 64);
        let charge = budgets.charge(&prefix, 1, WINDOW, now).await;
        assert!(charge.unwrap().allowed);
    }
}

/// Resident memory of the process.
fn resident_megabytes() -> f64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096.0 / 1e6
}
