//! A Redis that is unreachable.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use forum_api::host::{BackendError, OverloadedError};
use forum_api::rate_limit::RateLimitKey;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;
use forum_api::store::redis::{RedisFallback, RedisSettings};
use tokio::task::JoinSet;
use tokio::time::{self, Instant};

use super::{BUDGET, charge, remaining, until};
use crate::fixture::{at, lookup};
use forum_test_support::redis::RedisServer;
use forum_test_support::thread_log;

const GUESTS: RateLimitKey = RateLimitKey::UnknownAddress;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_continues_from_the_last_known_state() {
    let mut server = RedisServer::new();
    let node = server.store().await;
    let keys = [RateLimitKey::Token(lookup(1)), RateLimitKey::Prefix(1), GUESTS];
    let mut spent = Vec::new();
    for key in keys {
        spent.push(charge(&node, key, 100).await);
    }
    server.kill();
    for (key, before) in keys.into_iter().zip(spent) {
        assert!(!charge(&node, key, 21).await.allowed);
        let local = charge(&node, key, 20).await;
        assert!(local.allowed && local.remaining == 0);
        assert_eq!(local.resets_at, before.resets_at);
    }
    assert!(node.is_unreachable());
    assert_eq!(remaining(&node, RateLimitKey::Prefix(2)).await, 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_notices_a_loss_without_a_charge() {
    let mut server = RedisServer::new();
    let node = server.store().await;
    assert!(node.check().await && node.check().await);
    server.kill();
    assert!(!node.is_unreachable(), "nothing has asked Redis since");
    assert!(!node.check().await && node.is_unreachable());
    server.start();
    until(|| !node.is_unreachable()).await;
    assert!(node.check().await);
    server.command(&["config", "set", "maxmemory", "1"]);
    assert!(!node.check().await, "a Redis that rejects writes");
}

/// Beginning of the lines about a Redis that is unreachable.
const LOST: &str = "ERROR forum_api::store::redis::connection: Redis unreachable; ";

#[tokio::test]
async fn the_log_has_the_cause_of_a_refused_reconnection_and_the_recovery() {
    thread_log::record();
    let server = RedisServer::new();
    let node = server.store().await;
    server.command(&["config", "set", "requirepass", "another"]);
    server.command(&["-a", "another", "client", "kill", "type", "normal"]);
    assert!(!node.check().await);
    let lost = format!("{LOST}rate limits are local until it recovers error=");
    assert_eq!(thread_log::text().matches(&lost).count(), 1);
    until(|| thread_log::text().contains("Redis is still unreachable error=NOAUTH")).await;
    server.command(&["-a", "another", "config", "set", "requirepass", ""]);
    until(|| !node.is_unreachable()).await;
    let recovered =
        "  INFO forum_api::store::redis::connection: Redis recovered; rate limits are shared\n";
    until(|| thread_log::text().contains(recovered)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_redis_is_used_while_it_is_unreachable() {
    let mut server = RedisServer::new();
    let node = server.store().await;
    let shared = node.charge(&GUESTS, 1, BUDGET, at(0)).await.unwrap();
    server.kill();
    for (now, remaining) in [(0, 118), (299_000, 117), (300_000, 119)] {
        let local = node.charge(&GUESTS, 1, BUDGET, at(now)).await.unwrap();
        let elapsed = local.charged_at.saturating_duration_since(shared.charged_at);
        let expected = (remaining, at(now).saturating_duration_since(at(0)));
        assert_eq!((local.remaining, elapsed), expected);
    }
}

#[tokio::test]
async fn a_halted_redis_delays_only_the_first_charges() {
    let server = RedisServer::new();
    let node = Arc::new(server.store().await);
    charge(&node, GUESTS, 1).await;
    server.signal("STOP");
    // The paused clock advances to the next timeout when all tasks wait.
    time::pause();
    let start = Instant::now();
    let charges = (0..64).map(|_| {
        let node = node.clone();
        async move { charge(&node, GUESTS, 1).await }
    });
    let all = charges.collect::<JoinSet<_>>().join_all();
    let first = time::timeout(Duration::from_secs(60), all).await.unwrap();
    assert!(first.iter().all(|charge| charge.allowed));
    let waited = start.elapsed();
    assert_eq!(waited.as_secs(), 5, "the timeout of the store");
    assert!(node.is_unreachable());
    for _ in 0..1_000 {
        remaining(&node, GUESTS).await;
    }
    assert_eq!(start.elapsed(), waited, "the other charges do not wait");
    time::resume();
    server.signal("CONT");
    until(|| !node.is_unreachable()).await;
    assert_eq!(remaining(&node, GUESTS).await, 55);
}

/// Returns `true` if the API responds with 503 to a request with this error.
fn is_overloaded(error: &BackendError) -> bool {
    let source = error.source().and_then(|error| error.source());
    source.is_some_and(|source| source.is::<OverloadedError>())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_makes_charges_fail() {
    let mut server = RedisServer::stopped();
    let mut settings = RedisSettings::default();
    settings.fallback = RedisFallback::Refuse;
    settings.timeout = Duration::from_secs(5);
    thread_log::record();
    let node = server.store_with(settings).await;
    let lost = format!("{LOST}requests are refused until it recovers error=");
    assert_eq!(thread_log::take().matches(&lost).count(), 1);
    let charge = || node.charge(&GUESTS, 1, BUDGET, SystemClock.now());
    let error = charge().await.unwrap_err();
    assert_eq!(error.to_string(), "Redis is unreachable");
    assert!(is_overloaded(&error), "{error:?}");
    server.start();
    until(|| !node.is_unreachable()).await;
    assert_eq!(charge().await.unwrap().remaining, 119);
    server.kill();
    for _ in 0..2 {
        let error = charge().await.unwrap_err();
        assert!(is_overloaded(&error), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_rejects_writes_is_unreachable() {
    let server = RedisServer::new();
    let node = server.store().await;
    charge(&node, GUESTS, 1).await;
    for (break_writes, repair) in [
        ("replicaof 127.0.0.1 1", "replicaof no one"),
        ("config set maxmemory 1", "config set maxmemory 0"),
    ] {
        let run = |command: &str| server.command(&command.split(' ').collect::<Vec<_>>());
        run(break_writes);
        let before = node.failures();
        charge(&node, GUESTS, 1).await;
        until(|| node.failures() > before + 1).await;
        assert!(node.is_unreachable(), "{break_writes}");
        run(repair);
        until(|| !node.is_unreachable()).await;
    }
    assert_eq!(remaining(&node, GUESTS).await, 117);
}
