//! What the library must show, as the specification and the contract say it: a file per subject.

#[path = "../../examples/minimal.rs"]
#[expect(dead_code, reason = "an example has a main of its own")]
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
