//! The example server as its operator meets it: the real program, its commands, its output, its exit status.
//!
//! `cargo test` builds it; for this binary alone, `cargo build -p forum-server` has to come first.

use forum_test_support::{client, program, receiver};

mod board;
mod budgets;
#[allow(dead_code, reason = "its unit tests use a part")]
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
mod posts;
mod proxies;
mod readiness;
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
