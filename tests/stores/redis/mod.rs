//! Budgets in Redis: what every store of budgets must do, and what is told of Redis alone.
//!
//! `tests/run` starts one and puts its address into `FORUM_API_REDIS`; without it, nothing here is tried.

mod away;
mod back;
mod impostors;
use forum_test_support::redis as server;
mod sharing;

use std::env;
use std::io::{Write, stderr};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::conformance::{Part, Set, store_tests, stores::Keeper};
use forum_api::rate_limit::{BudgetKey, Charge, Window};
use forum_api::runtime::{Clock, Runtime, SystemClock, TokioRuntime};
use forum_api::store::redis::{RedisBudgets, Settings};
use forum_api::store::{Budgets, Stores, Webhooks};

/// The address of a Redis in which anything may be made.
const ADDRESS: &str = "FORUM_API_REDIS";

const WINDOW: Window = Window {
    units: 120,
    length: Duration::from_secs(300),
};

/// Runs a test, where there is a Redis.
fn try_in_redis(test: impl Future<Output = ()>) {
    static LEFT_OUT: Once = Once::new();
    if env::var_os(ADDRESS).is_none() {
        let say = || writeln!(stderr(), "left out: all in Redis, as {ADDRESS} names none");
        return LEFT_OUT.call_once(|| say().unwrap());
    }
    tokio::runtime::Runtime::new().unwrap().block_on(test);
}

/// A prefix that no other test has.
fn prefix() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    format!("forum_api_test_{}_{number}:", process::id())
}

/// A node of the board with this prefix, in the Redis that all tests share.
async fn node(prefix: &str) -> RedisBudgets {
    let settings = Settings {
        prefix: prefix.into(),
        patience: Duration::from_secs(5),
        ..Settings::default()
    };
    let address = env::var(ADDRESS).unwrap();
    let node = RedisBudgets::connect(&address, settings).await.unwrap();
    assert!(!node.is_away());
    node
}

async fn charge(node: &RedisBudgets, key: BudgetKey, cost: u32) -> Charge {
    let charge = node.charge(&key, cost, WINDOW, SystemClock.now());
    charge.await.unwrap()
}

async fn left(node: &RedisBudgets, key: BudgetKey) -> u32 {
    charge(node, key, 0).await.remaining
}

/// Waits until it is so, for as long as Redis may take to be served by again.
async fn until(what: impl Fn() -> bool) {
    let wait = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(2), wait).await;
    assert!(waited.is_ok(), "2 s are enough");
}

struct InRedis;

#[async_trait]
impl Keeper for InRedis {
    async fn empty(&self) -> Set<(Stores, Webhooks)> {
        let stores = Stores {
            budgets: Arc::new(node(&prefix()).await),
            ..Stores::in_memory()
        };
        Ok((stores, Webhooks::in_memory()))
    }

    fn lacks(&self) -> &[Part] {
        &[Part::SuiteClock]
    }

    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(TokioRuntime)
    }
}

mod conformance {
    use super::*;

    store_tests!(InRedis, try_in_redis);
}
