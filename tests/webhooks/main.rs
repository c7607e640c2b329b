//! Webhooks: deliveries and signatures, addresses and HTTP, administration, and the worker.
//!
//! `cargo test` builds the receiver; for this binary alone, `cargo build --example receiver` has to come first.

use forum_test_support::{client, program, wire};

mod address;
mod address_table;
mod admin;
mod delivery;
mod http;
mod receiver;
mod sample;
mod secret;
mod signing;
mod topic;
mod worker;
