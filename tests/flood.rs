//! A flood of addresses: memory stays bounded, and a spent budget stays spent (contract, section 3).

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets what cannot be is to fail"
)]

use std::time::Duration;

use forum_api::budget::{BudgetKey, Window};
use forum_api::model::Timestamp;
use forum_api::store::{Budgets, memory::MemoryBudgets};

const WINDOW: Window = Window {
    units: 120,
    length: Duration::from_secs(300),
};
const MIB: usize = 1 << 20;

/// What the process holds of memory, in bytes.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test]
async fn a_million_prefixes_take_64_mib_at_most_and_evict_nobody() {
    let (budgets, now) = (MemoryBudgets::default(), Timestamp::default());
    let charge = async |prefix: u128, cost| {
        let key = BudgetKey::Prefix(prefix);
        budgets.charge(&key, cost, WINDOW, now).await.unwrap()
    };
    assert!(charge(0, 120).await.granted);
    let before = resident();
    for prefix in 1..=1_000_000 {
        assert_eq!(
            charge(prefix, 1).await.remaining,
            119,
            "it has a budget of its own"
        );
    }
    let taken = resident() - before;
    println!("1,000,000 prefixes take {} MiB", taken / MIB);
    assert!(taken <= 64 * MIB);
    for prefix in 1_000_001..=1_600_000 {
        charge(prefix, 1).await;
    }
    assert!(resident() - before <= 64 * MIB, "whatever comes");
    assert!(!charge(0, 1).await.granted, "spent is spent");
    assert!(
        !charge(1_600_001, 1).await.granted,
        "late comers share what is left over"
    );
    let later = now.plus(WINDOW.length);
    let key = BudgetKey::Prefix(1_600_001);
    let next = budgets.charge(&key, 1, WINDOW, later).await.unwrap();
    assert_eq!(next.remaining, 119, "until windows end");
}
