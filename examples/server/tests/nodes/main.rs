//! Many nodes on one Postgres and one Redis, as their operator meets them: killed, cut off, upgraded, told to stop.
//!
//! `tests/run` starts both stores and puts their addresses into `FORUM_API_POSTGRES` and `FORUM_API_REDIS`; without
//! them, each test fails. A drill takes some ten seconds; `FORUM_DRILL_SECONDS=60` makes that a minute of load,
//! and lets leases run out by themselves.
//!
//! `cargo test` builds the server; for this binary alone, `cargo build -p forum-server` has to come first.

use forum_test_support::{
    client, cluster, connection, database, node, prerequisites, random, receiver, redis, scale,
};

mod audit;
mod blocked_write;
mod idempotency;
mod killed;
mod load;
mod outage;
mod outbox;
mod revocation;
mod stopped;
mod stores;
mod upgraded;
mod wait;
mod worker_activity;
