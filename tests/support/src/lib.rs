//! Postgres databases, programs, clients and receivers for the tests of several packages.

#![allow(clippy::new_without_default, reason = "each call creates a resource of its own")]

pub mod body_in_parts;
pub mod client;
pub mod cluster;
pub mod connection;
pub mod directory;
pub mod endless_body;
pub mod link;
pub mod node;
pub mod postgres;
pub mod prerequisites;
pub mod program;
pub mod random;
pub mod receiver;
pub mod redis;
pub mod schema;
pub mod statements;
pub mod thread_log;
pub mod tls;
pub mod wire;

use std::net::TcpListener;

/// Returns a port that is free now. Another process may take it first; the server then does not start.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
