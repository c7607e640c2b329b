//! Memory of rate limits for a flood of addresses, in a process of its own, with the allocator of the C library. Writes a
//! row of the table of results.

use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use forum_api::store::RateLimitStore;
use forum_api::store::memory::MemoryRateLimitStore;
use forum_benches::measurements::{Goal, Row, Samples};

/// Maximum memory of 1,000,000 budgets in megabytes.
const MAX_MEGABYTES: f64 = 64.0;

const WINDOW: Budget = Budget { units: 120, window: Duration::from_secs(300) };

async fn charge(
    budgets: &MemoryRateLimitStore,
    number: u32,
    cost: u32,
    now: i64,
) -> RateLimitDecision {
    let prefix = RateLimitKey::Prefix(0x2001_0db8 << 96 | u128::from(number) << 64);
    let now = Timestamp::from_millis(now);
    budgets.charge(&prefix, cost, WINDOW, now).await.unwrap()
}

#[tokio::test]
async fn a_million_prefixes_have_separate_budgets_in_64_mb() {
    const SPENT: u32 = u32::MAX;
    let budgets = MemoryRateLimitStore::default();
    charge(&budgets, SPENT, 120, 0).await;
    let before = resident_megabytes();

    for number in 0..1_000_000 {
        let charge = charge(&budgets, number, 1, 1).await;
        assert_eq!(charge.remaining, 119, "prefix {number}");
    }
    let grown = assert_bounded_growth(before);
    Row {
        what: "rate limits, 1,000,000 live prefixes, memory",
        unit: "MB",
        baseline: "none",
        goal: Goal::AtMost(MAX_MEGABYTES),
        cause: "",
    }
    .write(&Samples::from_iter([grown]));
    for number in (0..1_000_000).step_by(997) {
        let charge = charge(&budgets, number, 1, 299_999).await;
        assert_eq!(charge.remaining, 118, "prefix {number}");
    }
    assert!(!charge(&budgets, SPENT, 1, 299_999).await.allowed);

    // Windows that end one after another leave gaps in the tables, which must not make them grow.
    for number in 1_000_000..4_000_000 {
        charge(&budgets, number, 1, i64::from(number) / 4).await;
    }
    assert_bounded_growth(before);
}

/// Returns the growth of the resident memory in megabytes. Panics if it is above the maximum.
fn assert_bounded_growth(before: f64) -> f64 {
    let grown = resident_megabytes() - before;
    assert!(grown <= MAX_MEGABYTES, "{grown} MB");
    grown
}

/// Returns the resident memory, for pages of 4 KiB.
fn resident_megabytes() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096.0 / 1e6
}
