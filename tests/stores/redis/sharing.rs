//! Nodes that share a Redis.

use std::sync::Arc;
use std::time::Duration;

use forum_api::rate_limit::{Budget, RateLimitKey, WindowState};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;
use proptest::prelude::*;

use super::{BUDGET, charge, node, prefix, remaining, until};
use crate::fixture::{at, block_on, is_pending, lookup};
use forum_test_support::redis::RedisServer;

const GUESTS: RateLimitKey = RateLimitKey::UnknownAddress;

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_grant_exactly_one_budget() {
    let prefix = prefix();
    let nodes = [Arc::new(node(&prefix).await), Arc::new(node(&prefix).await)];
    let callers = (0..64).map(|caller| {
        let node = nodes[caller % 2].clone();
        tokio::spawn(async move {
            let mut granted = 0;
            for cost in [5, 7, 1, 1, 3, 1, 1, 1, 1, 1] {
                if charge(&node, GUESTS, cost).await.allowed {
                    granted += cost;
                }
            }
            granted
        })
    });
    let mut granted = 0;
    for caller in callers.collect::<Vec<_>>() {
        granted += caller.await.unwrap();
    }
    assert_eq!(granted, BUDGET.units);
    for node in nodes {
        assert_eq!((remaining(&node, GUESTS).await, node.failures()), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_follow_the_clock_of_redis() {
    let prefix = prefix();
    let one = node(&prefix).await;
    let other = node(&prefix).await;
    let before = SystemClock.now();
    let mut last = None;
    for (node, now) in [(&one, at(0)), (&other, at(1_000_000_000_000))] {
        let charge = node.charge(&GUESTS, 1, BUDGET, now).await.unwrap();
        assert!(before <= charge.charged_at && charge.charged_at <= SystemClock.now());
        assert!(charge.resets_at.saturating_duration_since(before) >= BUDGET.window);
        assert!(last.is_none_or(|last| last == charge.resets_at));
        last = Some(charge.resets_at);
    }
    assert_eq!(remaining(&one, GUESTS).await, 118);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_of_a_clock_that_was_set_back_counts_as_ended() {
    let server = RedisServer::new();
    let node = server.store().await;
    let ends_at = SystemClock.now().saturating_add(BUDGET.window * 2);
    let stored = format!("120 {}", ends_at.as_millis());
    server.command(&["set", "forum_api:budget:no_address", &stored]);
    let charge = charge(&node, GUESTS, 1).await;
    assert_eq!((charge.allowed, charge.remaining), (true, 119));
    let resets_at = charge.charged_at.saturating_add(BUDGET.window);
    assert_eq!(charge.resets_at, resets_at);
}

#[tokio::test(flavor = "multi_thread")]
async fn boards_with_different_prefixes_are_separate() {
    let one = node(&prefix()).await;
    let other = node(&prefix()).await;
    charge(&one, GUESTS, 100).await;
    assert_eq!(remaining(&other, GUESTS).await, 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_named_as_documented_and_expire_with_their_windows() {
    let server = RedisServer::new();
    let node = server.store().await;
    let names = [
        ("token:0000000000000007", RateLimitKey::Token(lookup(7))),
        ("prefix:20010db8000000000000000000000000", RateLimitKey::Prefix(0x2001_0db8 << 96)),
        ("no_address", GUESTS),
        ("attempts:00000000000000000000000000000abc", RateLimitKey::PasswordAttempts(0xabc)),
    ];
    for (_, key) in &names {
        charge(&node, *key, 0).await;
        charge(&node, *key, 200).await;
    }
    let keys = || server.command(&["keys", "*"]);
    assert!(!keys().contains("no_address"), "no unit was granted");
    for (name, key) in &names {
        charge(&node, *key, 1).await;
        let name = format!("forum_api:budget:{name}");
        assert!(server.command(&["get", &name]).starts_with("1 "), "{name}");
        let ttl: u128 = server.command(&["pttl", &name]).trim().parse().unwrap();
        assert!(ttl <= BUDGET.window.as_millis());
    }
    until(|| keys().lines().count() == names.len()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flushed_script_is_loaded_again() {
    let server = RedisServer::new();
    let node = server.store().await;
    charge(&node, GUESTS, 1).await;
    server.command(&["script", "flush"]);
    charge(&node, GUESTS, 1).await;
    let stored = server.command(&["get", "forum_api:budget:no_address"]);
    assert!(stored.starts_with("2 "), "{stored}");
    assert_eq!(node.failures(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_charge_does_not_affect_the_next_ones() {
    let node = node(&prefix()).await;
    for _ in 0..50 {
        let mut abandoned = Box::pin(charge(&node, GUESTS, 1));
        is_pending(&mut abandoned).await;
    }
    let charge = charge(&node, GUESTS, 1).await;
    assert!(charge.allowed && (69..=119).contains(&charge.remaining));
    assert_eq!(node.failures(), 0);
}

/// Generates the units of a budget, and the units to charge.
fn step() -> impl Strategy<Value = (u32, u32)> {
    (prop_oneof![0..30_u32, Just(u32::MAX)], 0..20_u32)
}

/// Generates the length of a window in milliseconds.
fn length() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0_u64), 1..5_u64, Just(300_000), Just(u64::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each charge has another budget: nodes have different settings while these are changed.
    #[test]
    fn redis_allows_the_same_charges_as_the_pure_window(
        length in length(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        block_on(async {
            let node = node(&prefix()).await;
            let mut budget: Option<WindowState> = None;
            for (units, cost) in steps {
                let window = Budget { units, window: Duration::from_millis(length.min(1_000_000_000_000_000)) };
                let charge = node.charge(&GUESTS, cost, window, at(0)).await.unwrap();
                let (after, expected) = window.charge(budget, cost, charge.charged_at);
                assert_eq!(charge, expected);
                budget = after;
            }
            assert_eq!(node.failures(), 0);
        });
    }
}
