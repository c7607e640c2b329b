//! Drills with many nodes on one Postgres and one Redis: kills, outages, upgrades and shutdowns.
//!
//! `tests/run` starts both stores and sets `FORUM_API_POSTGRES` and `FORUM_API_REDIS`; without them each test fails. A
//! drill takes about ten seconds. `FORUM_API_DRILL_SECONDS=60` makes it a minute of load, in which leases expire by
//! themselves.
//!
//! `cargo test` builds the server. To run only this binary, run `cargo build -p forum-server` first.

use forum_test_support::{
    client, cluster, connection, node, postgres, prerequisites, random, receiver, redis, scale,
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
