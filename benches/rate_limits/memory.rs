//! Memory of very many budgets, and the time of a charge among them.

use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;
use std::time::Instant;

use forum_api::rate_limit::RateLimitKey;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;
use forum_api::store::memory::MemoryRateLimitStore;

use crate::WINDOW;
use crate::measurements::{Goal, Samples, row};

const PREFIXES: u32 = 1_000_000;
const ROUNDS: usize = 5;

pub async fn measure() {
    println!("{PREFIXES} live prefixes, {ROUNDS} rounds");
    let (mut memory, mut first, mut again, mut bare) =
        <(Samples, Samples, Samples, Samples)>::default();
    // All stores stay alive, so that none reuses the memory of another.
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        let before = resident_megabytes();
        let budgets = MemoryRateLimitStore::default();
        first.add(charge_each(&budgets).await);
        memory.add(resident_megabytes() - before);
        again.add(charge_each(&budgets).await);
        bare.add(bare_maps());
        all.push(budgets);
    }
    bare.report("a count in as many bare maps behind locks, ns");
    first.report("the first charge of a prefix, ns");
    row(
        "rate limits, 1,000,000 live prefixes, memory",
        "MB",
        "none",
        Goal::AtMost(64.0),
        &memory,
    );
    row(
        "rate limits, 1,000,000 live prefixes, one charge",
        "ns",
        "none",
        Goal::AtMost(250.0),
        &again,
    );
}

/// Returns the nanoseconds of a charge.
async fn charge_each(budgets: &dyn RateLimitStore) -> f64 {
    let now = SystemClock.now();
    let begun = Instant::now();
    for number in 0..PREFIXES {
        let prefix = RateLimitKey::Prefix(0x2001_0db8 << 96 | u128::from(number) << 64);
        let charge = budgets.charge(&prefix, 1, WINDOW, now).await;
        assert!(charge.unwrap().allowed);
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(PREFIXES)
}

/// Baseline: the same number of entries in maps of the standard library with the same locks, without windows or a
/// clock.
fn bare_maps() -> f64 {
    let maps: Vec<_> = (0..96).map(|_| Mutex::new(HashMap::new())).collect();
    let count = |number: u32| {
        let prefix = 0x2001_0db8 << 96 | u128::from(number) << 64;
        let mut map = maps[number as usize % maps.len()].lock().unwrap();
        let (_, used) = map.entry(prefix).or_insert((0_i64, 0_u32));
        *used += 1;
    };
    (0..PREFIXES).for_each(count);
    let begun = Instant::now();
    (0..PREFIXES).for_each(count);
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(PREFIXES)
}

/// Resident memory of the process.
fn resident_megabytes() -> f64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096.0 / 1e6
}
