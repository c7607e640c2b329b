//! Many nodes on one Postgres and one Redis, as their operator meets them: killed, cut off, upgraded, told to stop.
//!
//! `tests/run` starts both stores and puts their addresses into `FORUM_API_POSTGRES` and `FORUM_API_REDIS`; without
//! them, each test fails. A drill takes some ten seconds; `FORUM_DRILL_SECONDS=60` makes that a minute of load,
//! and lets leases run out by themselves.
//!
//! `cargo test` builds the server; for this binary alone, `cargo build --example server` has to come first.

mod audit;
#[path = "../server/client.rs"]
#[allow(dead_code, reason = "the server's own tests use the rest")]
mod client;
mod cluster;
mod connection;
mod crowd;
mod database;
mod extent;
mod held;
mod killed;
mod needs;
mod node;
mod once;
mod outage;
mod outbox;
mod patience;
#[path = "../server/program.rs"]
#[allow(dead_code, reason = "the server's own tests use the rest")]
mod program;
mod random;
#[path = "../server/receiver.rs"]
#[allow(dead_code, reason = "the server's own tests use the rest")]
mod receiver;
#[path = "../stores/redis/server.rs"]
#[allow(dead_code, reason = "the tests of stores use the rest")]
mod redis;
mod restrained;
mod stopped;
mod stores;
mod told;
mod upgraded;
