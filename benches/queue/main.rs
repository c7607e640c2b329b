//! How long the stores of webhooks take by themselves: `cargo bench --bench queue`, or with `-- claims` (`settlements`) a
//! part of it. Three minutes and 2 GB of disk are enough.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a measurement that goes wrong is to fail, and nobody imports it"
)]

mod claims;
mod fixture;
mod settlements;

use std::env;

#[tokio::main]
async fn main() {
    let named: Vec<_> = env::args().skip(1).collect();
    let wanted = |part: &str| {
        let mut parts = named.iter().filter(|name| !name.starts_with("--"));
        parts.clone().next().is_none() || parts.any(|name| name == part)
    };
    if wanted("claims") {
        claims::run().await;
    }
    if wanted("settlements") {
        settlements::run().await;
    }
}
