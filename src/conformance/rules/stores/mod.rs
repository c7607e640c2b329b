//! The rules for stores.

use crate::conformance::support::*;

rule_files! {
    __store_tests, Shelf;
    tokens rate_limits idempotency outbox endpoints claims leases retries lists sweeps usage
}
