//! What the library must show, as the specification and the contract say it: a file per subject.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what cannot be is to fail"
)]

#[path = "../../examples/minimal.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "an example has a main of its own"
)]
mod minimal;
mod support;

mod authentication;
mod bodies;
mod budgets;
mod cursors;
mod documents;
mod endpoints;
mod faults;
mod following;
mod generators;
mod headers;
mod incidents;
mod interrupted;
mod keys;
mod language;
mod leaks;
mod metrics;
mod nonsense;
mod order;
mod owasp;
mod paths;
mod queries;
mod replays;
mod tokens;
mod toy;
mod visibility;
mod webhooks;
