//! Webhooks: their states and signatures, where they may go, what goes over the wire, and when.
//!
//! `cargo test` builds the receiver; for this binary alone, `cargo build --example receiver` has to come first.

use forum_test_support::{client, program, wire};

mod addresses;
mod ids;
mod keeping;
mod paths;
mod python;
mod ranges;
mod receiver;
mod registry;
mod rotation;
mod sample;
mod sealing;
mod secrets;
mod signatures;
mod spellings;
mod states;
mod tls;
mod topics;
mod transport;
mod waits;
mod worker;
