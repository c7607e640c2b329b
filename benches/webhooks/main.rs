//! What webhooks take and what they cost: `cargo bench --bench webhooks`, or with `-- receipt` (`throughput`,
//! `claim`) a part of it.
//!
//! The real parts work together: SQLite in a file, the reference board as the authority, one worker, HTTP, and
//! receivers on loopback in the same process. What is compared takes turns, in five rounds, and each figure is the
//! least, the median and the most of them; a ratio is of the least, or for what is counted a second of the most.
//! Three minutes and 1 GB of disk are enough. `QUEUED=1000000` has more wait for the one that hangs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a measurement that goes wrong is to fail, and nobody imports it"
)]

#[path = "../../examples/server/board/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the server uses the rest")]
mod board;
mod claim;
#[path = "../figures/mod.rs"]
mod figures;
mod receipt;
mod receiver;
mod rig;
mod throughput;

use std::env;

/// How often each thing is measured.
const ROUNDS: usize = 5;

#[tokio::main]
async fn main() {
    let named: Vec<_> = env::args().skip(1).collect();
    let wanted = |part: &str| {
        let mut parts = named.iter().filter(|name| !name.starts_with("--"));
        parts.clone().next().is_none() || parts.any(|name| name == part)
    };
    if wanted("receipt") {
        receipt::measure().await;
    }
    if wanted("throughput") {
        throughput::measure().await;
    }
    if wanted("claim") {
        claim::measure().await;
    }
}

/// How many deliveries wait for a receiver that hangs.
fn queued() -> usize {
    env::var("QUEUED").map_or(100_000, |queued| queued.parse().unwrap())
}
