//! Budgets in memory: bounded however many addresses come.

use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::rate_limit::{BudgetKey, Charge, Window};
use forum_api::store::Budgets;
use forum_api::store::memory::MemoryBudgets;

use crate::backend::{at, lookup};

const WINDOW: Window = Window {
    units: 120,
    length: Duration::from_secs(300),
};

async fn charge(budgets: &MemoryBudgets, key: BudgetKey, cost: u32, now: Timestamp) -> Charge {
    budgets.charge(&key, cost, WINDOW, now).await.unwrap()
}

/// An address as the nth of a flood has it: prefixes of IPv6.
fn prefix(number: u32) -> BudgetKey {
    BudgetKey::Prefix(0x2001_0db8 << 96 | u128::from(number) << 64)
}

#[tokio::test]
async fn password_attempts_are_bounded_and_leave_guests_alone() {
    let budgets = MemoryBudgets::default();
    let attempts = |number| BudgetKey::attempts("test", &u32::to_be_bytes(number));
    charge(&budgets, attempts(u32::MAX), 120, at(0)).await;
    let mut shared = 0;
    for number in 0..300_000 {
        let charge = charge(&budgets, attempts(number), 1, at(1)).await;
        shared += u32::from(charge.remaining < 119);
    }
    assert!(
        (100_000..200_000).contains(&shared),
        "{shared} share a budget"
    );
    assert!(!charge(&budgets, attempts(u32::MAX), 1, at(2)).await.granted);
    assert_eq!(charge(&budgets, prefix(1), 1, at(2)).await.remaining, 119);
    let charge = charge(&budgets, attempts(400_000), 1, at(300_001)).await;
    assert_eq!(charge.remaining, 119);
}

#[tokio::test]
async fn when_all_is_full_new_prefixes_share_one_budget_until_windows_end() {
    let budgets = MemoryBudgets::default();
    let token = BudgetKey::Token(lookup(1));
    let spent = prefix(u32::MAX);
    charge(&budgets, spent, 120, at(0)).await;
    let mut shared = 0;
    for number in 0..2_000_000 {
        shared += u32::from(charge(&budgets, prefix(number), 1, at(1)).await.remaining < 119);
    }
    assert!(
        (500_000..900_000).contains(&shared),
        "{shared} share a budget"
    );
    assert!(
        !charge(&budgets, prefix(u32::MAX - 1), 120, at(2))
            .await
            .granted
    );
    assert!(!charge(&budgets, spent, 1, at(2)).await.granted);
    assert_eq!(charge(&budgets, prefix(0), 1, at(2)).await.remaining, 118);
    assert_eq!(charge(&budgets, token, 1, at(2)).await.remaining, 119);
    for number in 2_500_000..2_501_000 {
        let charge = charge(&budgets, prefix(number), 1, at(-400_000)).await;
        assert_eq!(
            charge.remaining, 119,
            "after the clock was set back: {number}"
        );
    }
    for number in 3_000_000..4_000_000 {
        let charge = charge(&budgets, prefix(number), 1, at(300_001)).await;
        assert_eq!(charge.remaining, 119, "prefix {number}");
    }
}
