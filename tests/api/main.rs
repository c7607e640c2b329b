//! The HTTP API as `docs/protocol.md` describes it: one file for each subject.

mod support;

mod authentication;
mod bodies;
mod budgets;
mod cursors;
mod documents;
mod endpoints;
mod faults;
mod generators;
mod headers;
mod interrupted;
mod keys;
mod language;
mod leaks;
mod metrics;
mod nonsense;
mod operations;
mod order;
mod paths;
mod properties;
mod queries;
mod replays;
mod tokens;
mod visibility;
mod webhooks;
