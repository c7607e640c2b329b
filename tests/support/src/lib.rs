//! Postgres databases, programs, clients and receivers for the tests of several packages.

#![allow(
    clippy::new_without_default,
    reason = "each call creates a resource of its own"
)]

pub mod client;
pub mod cluster;
pub mod connection;
pub mod directory;
pub mod node;
pub mod postgres;
pub mod prerequisites;
pub mod program;
pub mod random;
pub mod receiver;
pub mod redis;
pub mod scale;
pub mod schema;
pub mod thread_log;
pub mod tls;
pub mod wire;
