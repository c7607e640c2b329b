//! Rate limits: the arithmetic of windows, and the bounds of the store in memory.

use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use forum_api::store::RateLimitStore;
use forum_api::store::memory::MemoryRateLimitStore;

use crate::fixture::{at, lookup};

pub(crate) const BUDGET: Budget = Budget { units: 120, window: Duration::from_secs(300) };

async fn charge(
    store: &MemoryRateLimitStore,
    key: RateLimitKey,
    cost: u32,
    now: Timestamp,
) -> RateLimitDecision {
    store.charge(&key, cost, BUDGET, now).await.unwrap()
}

/// Returns the key of an IPv6 prefix.
fn prefix(number: u32) -> RateLimitKey {
    RateLimitKey::Prefix(0x2001_0db8 << 96 | u128::from(number) << 64)
}

fn password(number: u32) -> RateLimitKey {
    RateLimitKey::password_attempts("test", &u32::to_be_bytes(number))
}

/// If the capacity is exhausted, new keys share one window until others end. A flood of one kind of key does not affect
/// other kinds.
#[tokio::test]
async fn the_memory_of_each_kind_of_key_is_bounded() {
    type Key = fn(u32) -> RateLimitKey;
    for (key, flood, shares, other) in [
        (prefix as Key, 2_000_000, 500_000..900_000, password as Key),
        (password, 300_000, 100_000..200_000, prefix),
    ] {
        let store = MemoryRateLimitStore::default();
        let spent = key(u32::MAX);
        charge(&store, spent, 120, at(0)).await;
        let mut shared = 0;
        for number in 0..flood {
            shared += u32::from(charge(&store, key(number), 1, at(1)).await.remaining < 119);
        }
        assert!(shares.contains(&shared), "{shared} share a window");
        for (key, cost) in [(key(u32::MAX - 1), 120), (spent, 1)] {
            assert!(!charge(&store, key, cost, at(2)).await.allowed);
        }
        assert_eq!(charge(&store, key(0), 1, at(2)).await.remaining, 118);
        for unaffected in [other(1), RateLimitKey::Token(lookup(1))] {
            assert_eq!(charge(&store, unaffected, 1, at(2)).await.remaining, 119);
        }
        // After the clock was set back, and after all windows have ended.
        for (first, now) in [(2_500_000, -400_000), (3_000_000, 300_001)] {
            for number in first..first + 1_000 {
                let charge = charge(&store, key(number), 1, at(now)).await;
                assert_eq!(charge.remaining, 119, "{number} at {now}");
            }
        }
    }
}

/// The time of a charge is read before the lock, so a charge can carry an earlier time than the window's first charge.
#[test]
fn a_charge_from_before_the_start_of_a_window_joins_it() {
    let (first, _) = BUDGET.charge(None, 1, at(100_000));
    for (now, charged_at, remaining, ends_at) in [
        (100_001, 100_001, 118, 400_000),
        (99_999, 100_000, 118, 400_000),
        (40_000, 100_000, 118, 400_000),
        (39_999, 39_999, 119, 339_999),
    ] {
        let (_, charge) = BUDGET.charge(first, 1, at(now));
        let actual = (charge.charged_at, charge.remaining, charge.resets_at);
        assert_eq!(actual, (at(charged_at), remaining, at(ends_at)), "{now}");
    }
}

#[test]
fn a_budget_lowered_below_the_used_units_has_none_left() {
    let (budget, _) = BUDGET.charge(None, 80, at(0));
    let smaller = Budget { units: 50, ..BUDGET };
    let (after, charge) = smaller.charge(budget, 1, at(1));
    let shown = (charge.allowed, charge.limit, charge.remaining);
    assert_eq!(shown, (false, 50, 0));
    assert_eq!(after, budget);
}
