//! The example server as a process: its commands, output, exit statuses, signals, files and connections.
//!
//! `cargo test` builds the program. To run only this binary, run `cargo build -p forum-server` first.

use forum_test_support::{client, node, postgres, program, receiver};

mod clock;
mod commands;
mod config;
mod connections;
mod copy;
mod deliveries;
mod deploy;
mod erasure;
mod faults;
mod feed;
mod keys;
mod kill;
mod lifecycle;
mod log;
mod panel;
mod prelude;
mod proxy;
mod recorded;
mod restore;
mod routes;
mod sign_in;
mod start;
mod tls;
