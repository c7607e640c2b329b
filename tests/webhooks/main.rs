//! Webhooks: deliveries and signatures, addresses and HTTP, administration, and the worker.
//!
//! `cargo test` builds the example receiver; to run only this binary, run `cargo build --example receiver` first.

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
