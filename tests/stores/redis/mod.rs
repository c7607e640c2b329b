//! Guarantees of Redis in addition to the conformance rules.

mod failover;
mod group;
mod invalid_servers;
mod recovery;
mod sharing;
mod tls;
mod unreachable;

use std::env;
use std::fmt::Display;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use forum_api::rate_limit::{RateLimitDecision, RateLimitKey};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;
use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};

use crate::rate_limits::BUDGET;

/// Returns a unique prefix of keys.
pub(crate) fn prefix() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("forum_api_test_{}_{number}:", process::id())
}

/// Connects a node with this prefix to the Redis that all tests share.
pub(crate) async fn node(prefix: &str) -> RedisRateLimitStore {
    let mut settings = RedisSettings::default();
    settings.prefix = prefix.into();
    settings.timeout = Duration::from_secs(5);
    let address = env::var("FORUM_API_REDIS").unwrap_or_else(|_| {
        panic!("set FORUM_API_REDIS to the address of a Redis; tests/run starts one")
    });
    let node = RedisRateLimitStore::connect(&address, settings).await.unwrap();
    assert!(!node.is_unreachable());
    node
}

async fn charge(node: &RedisRateLimitStore, key: RateLimitKey, cost: u32) -> RateLimitDecision {
    node.charge(&key, cost, BUDGET, SystemClock.now()).await.unwrap()
}

async fn remaining(node: &RedisRateLimitStore, key: RateLimitKey) -> u32 {
    charge(node, key, 0).await.remaining
}

/// Waits until the condition holds.
async fn until(condition: impl Fn() -> bool) {
    until_ok(|| if condition() { Ok(()) } else { Err("the condition does not hold") }).await;
}

/// Waits until the check succeeds. Panics with its last error after 30 s.
async fn until_ok<E: Display>(check: impl Fn() -> Result<(), E>) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while let Err(error) = check() {
        assert!(Instant::now() < deadline, "after 30 s: {error}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
