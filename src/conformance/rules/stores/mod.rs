//! Rules for stores.

use crate::conformance::support::*;

pub mod audit;
pub mod claims;
pub mod delivery_stats;
pub mod endpoints;
pub mod feed;
pub mod idempotency;
pub mod leases;
pub mod lists;
pub mod outbox;
pub mod pending_events;
pub mod rate_limits;
pub mod retries;
pub mod sweeps;
pub mod token_usage;
pub mod tokens;

rule_files! {
    __store_tests, StoreFixture;
    audit: __rules_audit;
    tokens: __rules_tokens;
    rate_limits: __rules_rate_limits;
    idempotency: __rules_idempotency;
    outbox: __rules_outbox;
    pending_events: __rules_pending_events;
    feed: __rules_feed;
    endpoints: __rules_endpoints;
    claims: __rules_claims;
    leases: __rules_leases;
    retries: __rules_retries;
    lists: __rules_lists;
    sweeps: __rules_sweeps;
    delivery_stats: __rules_delivery_stats;
    token_usage: __rules_token_usage;
}

/// Runs the rule `name`, such as `outbox::an_event_is_inserted_once`, on new stores.
///
/// # Errors
/// If the rule fails, or needs a [`Capability`] that is unsupported.
///
/// # Panics
/// If no rule has this name.
pub async fn run(name: &str, factory: &dyn StoreFactory) -> TestResult {
    let case = find(cases(), name);
    case.run_on(&StoreFixture::new(factory).await?).await
}

/// Runs every rule, each on its own stores.
pub async fn run_all(factory: &dyn StoreFactory) -> Report {
    Report::create(cases(), || StoreFixture::new(factory)).await
}
