//! Rules for stores.

use crate::conformance::support::*;

mod audit;
mod claims;
mod delivery_stats;
mod endpoints;
mod idempotency;
mod leases;
mod lists;
mod outbox;
mod rate_limits;
mod retries;
mod sweeps;
mod token_usage;
mod tokens;

rule_files! {
    __store_tests, StoreFixture;
    audit tokens rate_limits idempotency outbox endpoints claims leases retries lists sweeps delivery_stats token_usage
}

/// Runs every rule, each on its own stores.
pub async fn run_all(factory: &dyn StoreFactory) -> Report {
    Report::create(CASES, || StoreFixture::new(factory)).await
}
