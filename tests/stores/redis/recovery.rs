//! A Redis that recovers, with or without its data.

use std::time::Duration;

use forum_api::rate_limit::RateLimitKey;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;

use super::{BUDGET, charge, remaining, until};
use crate::fixture::lookup;
use forum_test_support::redis::RedisServer;

fn token() -> RateLimitKey {
    RateLimitKey::Token(lookup(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_restarts_empty_receives_the_known_windows() {
    let mut server = RedisServer::new();
    let one = server.store().await;
    let other = server.store().await;
    let spent = charge(&one, token(), 100).await;
    server.kill();
    assert_eq!(charge(&one, token(), 5).await.remaining, 15);
    server.start();
    until(|| !one.is_unreachable()).await;
    let recovered = charge(&one, token(), 5).await;
    let expected = (10, spent.resets_at);
    assert_eq!((recovered.remaining, recovered.resets_at), expected);
    let units = remaining(&other, token()).await;
    assert_eq!(units, 120, "the other node had no state");
    until(|| !other.is_unreachable()).await;
    assert_eq!(remaining(&other, token()).await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flush_grants_no_unit_twice() {
    let server = RedisServer::new();
    let one = server.store().await;
    let other = server.store().await;
    charge(&one, token(), 120).await;
    server.command(&["flushall"]);
    assert!(!charge(&one, token(), 1).await.allowed);
    let restored = charge(&other, token(), 1).await;
    assert!(!restored.allowed, "a refused charge restores the window");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_a_wrong_type_is_replaced() {
    let server = RedisServer::new();
    let one = server.store().await;
    let other = server.store().await;
    let key = RateLimitKey::UnknownAddress;
    server.command(&["lpush", "forum_api:budget:no_address", "x"]);
    charge(&one, key, 20).await;
    assert_eq!((one.failures(), one.is_unreachable()), (0, false));
    assert_eq!(remaining(&other, key).await, 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_greater_of_two_local_counts_is_valid() {
    let mut server = RedisServer::stopped();
    let one = server.store().await;
    let other = server.store().await;
    charge(&one, token(), 30).await;
    let later = charge(&other, token(), 50).await;
    server.start();
    until(|| !one.is_unreachable() && !other.is_unreachable()).await;
    assert_eq!(remaining(&one, token()).await, 90);
    let both = charge(&other, token(), 1).await;
    assert_eq!((both.remaining, both.resets_at), (69, later.resets_at));
    let both = charge(&one, token(), 1).await;
    assert_eq!((both.remaining, both.resets_at), (68, later.resets_at));
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_and_impossible_windows_are_not_sent() {
    let mut server = RedisServer::stopped();
    let node = server.store().await;
    let now = SystemClock.now();
    let too_early = now.saturating_sub(Duration::from_millis(300_001));
    let too_late = now.saturating_add(Duration::from_secs(100));
    for (number, now) in [(1, too_early), (2, too_late)] {
        let key = RateLimitKey::Token(lookup(number));
        let charge = node.charge(&key, 120, BUDGET, now).await;
        assert!(charge.unwrap().allowed);
    }
    server.start();
    until(|| !node.is_unreachable()).await;
    for number in [1, 2] {
        let token = RateLimitKey::Token(lookup(number));
        assert_eq!(remaining(&node, token).await, 120);
    }
}
