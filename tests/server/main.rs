//! The example server as its operator meets it: the real program, its commands, its output, its exit status.
//!
//! `cargo test` builds it; for this binary alone, `cargo build --example server` has to come first.

mod board;
mod budgets;
mod client;
mod database;
mod deliveries;
mod documents;
mod faults;
mod forums;
mod generate;
mod idle;
mod keys;
mod killed;
mod leaks;
mod log;
mod members;
mod metrics;
mod posts;
mod program;
mod proxies;
mod receiver;
mod reference;
mod serving;
mod sessions;
mod settings;
mod sign_in;
mod startup;
mod stopping;
mod tokens;
mod usage;
mod webhooks;
mod wire;
