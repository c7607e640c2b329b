//! The example server as its operator meets it: the real program, its commands, its output, its exit status.
//!
//! `cargo test` builds it; for this binary alone, `cargo build --example server` has to come first.

mod board;
mod budgets;
mod client;
#[allow(dead_code, reason = "its unit tests use a part")]
#[path = "../../examples/server/connections.rs"]
mod connections;
mod database;
mod deliveries;
mod documents;
mod faults;
mod forums;
mod generate;
mod hosts;
mod idle;
mod keys;
mod killed;
mod leaks;
mod log;
mod max_connections;
mod members;
mod metrics;
#[path = "../../examples/server/log/panics.rs"]
mod panic_message;
mod posts;
mod program;
mod proxies;
mod readiness;
mod receiver;
mod reference;
mod serving;
mod sessions;
mod settings;
mod sign_in;
mod startup;
mod stopping;
mod tokens;
mod unread;
mod usage;
mod webhooks;
mod wire;
