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
pub mod recorded;
pub mod redis;
pub mod schema;
pub mod statements;
pub mod thread_log;
pub mod tls;
pub mod wire;

use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::ops::Range;

/// Ports below those that Linux by default gives to connections and to listeners on port 0, which could take a port before
/// the server of a test listens on it.
const PORTS: Range<u16> = 10_000..32_768;

/// Returns a random free port. Another test may take it first; the server then does not start.
pub fn free_port() -> u16 {
    let random = |_| PORTS.start + (RandomState::new().hash_one(()) % PORTS.len() as u64) as u16;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (0..1_000).map(random).find(is_free).expect("no port is free")
}
