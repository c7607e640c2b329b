//! The example server as a process: its commands, output, exit statuses, signals, files and connections.
//!
//! `cargo test` builds the program; for this binary alone, `cargo build -p forum-server` has to come first.

use forum_test_support::{client, postgres, program, receiver};

mod commands;
mod config;
mod connections;
mod deliveries;
mod deploy;
mod faults;
mod keys;
mod kill;
mod lifecycle;
mod log;
mod panel;
mod recorded;
mod routes;
mod start;
mod tls;
