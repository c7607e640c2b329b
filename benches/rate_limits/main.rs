//! Time of a charge with 64 concurrent callers in memory, in Redis, and while Redis is unreachable; and the memory of
//! 1,000,000 live prefixes: `source tests/redis`, then `cargo bench -p forum-benches --bench rate_limits`. Takes ten
//! seconds.

use forum_benches::measurements;

mod memory;

use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forum_api::rate_limit::{Budget, RateLimitKey};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;
use forum_api::store::memory::MemoryRateLimitStore;
use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
use forum_api::token::Lookup;

const CALLERS: u64 = 64;
const CHARGES_PER_CALLER: u64 = 5_000;
const WINDOW: Budget = Budget {
    units: u32::MAX,
    window: Duration::from_secs(300),
};

#[tokio::main]
async fn main() {
    memory::measure().await;
    measure("in memory", Arc::new(MemoryRateLimitStore::default())).await;
    match env::var("FORUM_API_REDIS") {
        Ok(url) => measure("in Redis", redis(&url).await).await,
        Err(_) => println!("skipped: Redis, since FORUM_API_REDIS is not set"),
    }
    let unreachable = redis("redis://127.0.0.1:1").await;
    measure("while Redis is unreachable", unreachable).await;
}

async fn redis(url: &str) -> Arc<RedisRateLimitStore> {
    let mut settings = RedisSettings::default();
    settings.prefix = format!("forum_api_bench_{}:", std::process::id());
    Arc::new(RedisRateLimitStore::connect(url, settings).await.unwrap())
}

async fn measure(name: &str, budgets: Arc<dyn RateLimitStore>) {
    let start = Instant::now();
    let callers = (0..CALLERS).map(|caller| tokio::spawn(call(caller, budgets.clone())));
    let mut times = Vec::new();
    for caller in callers.collect::<Vec<_>>() {
        times.extend(caller.await.unwrap());
    }
    let rate = times.len() as f64 / start.elapsed().as_secs_f64();
    times.sort_unstable();
    let of_hundred = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e6;
    println!(
        "{name}: {rate:.0} charges/s, median {:.1} us, 99 of 100 within {:.1} us",
        of_hundred(50),
        of_hundred(99),
    );
}

/// Charges the budgets of ten tokens in turn and returns the duration of each charge.
async fn call(caller: u64, budgets: Arc<dyn RateLimitStore>) -> Vec<Duration> {
    let mut times = Vec::new();
    for number in 0..CHARGES_PER_CALLER {
        let lookup = Lookup::parse(&format!("{:016}", caller * 10 + number % 10));
        let key = RateLimitKey::Token(lookup.unwrap());
        let start = Instant::now();
        let charge = budgets.charge(&key, 1, WINDOW, SystemClock.now()).await;
        times.push(start.elapsed());
        assert!(charge.unwrap().allowed);
    }
    times
}
