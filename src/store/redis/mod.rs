//! Rate limits in Redis or Valkey (feature `redis`), exact across all nodes that share it.
//!
//! ```no_run
//! use std::sync::Arc;
//! use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
//! use forum_api::store::{BackendResult, Stores};
//!
//! async fn stores() -> BackendResult<Stores> {
//!     let url = "redis://:secret@10.0.0.7:6379/0";
//!     let rate_limits = RedisRateLimitStore::connect(url, RedisSettings::default()).await?;
//!     Ok(Stores { rate_limits: Arc::new(rate_limits), ..Stores::in_memory() })
//! }
//! ```
//!
//! # Keys
//!
//! A charge is one script on one key and uses the clock of Redis. All keys begin with [`RedisSettings::prefix`], and each
//! expires with its window:
//!
//! | key | budget |
//! |---|---|
//! | `forum_api:budget:token:LOOKUP` | token |
//! | `forum_api:budget:prefix:ADDRESS` | guests of one address prefix: 32 hexadecimal digits, IPv4 is IPv4-mapped IPv6 |
//! | `forum_api:budget:no_address` | guests without an address |
//! | `forum_api:budget:attempts:HASH` | failed password attempts of one account or address prefix: 32 hexadecimal digits |
//! | `forum_api:budget:probe` | charged to check that Redis takes writes |
//!
//! ```lua
#![doc = include_str!("charge.lua")]
//! ```
//!
//! # While Redis is unreachable
//!
//! The node stores the responses of Redis in a [`MemoryRateLimitStore`](super::memory::MemoryRateLimitStore). If Redis fails
//! a charge, or does not respond within [`RedisSettings::timeout`], the node continues from this state without Redis. It
//! tries to reconnect in the background, at once and then every half second, until Redis accepts a charge. It logs one line
//! when Redis becomes unreachable, and one when it recovers. With [`RedisFallback::Refuse`] it refuses requests instead.
//!
//! Each charge sends the node's state to the script, which merges it: the greater count and the later end of a running
//! window are valid. A Redis that was restarted empty, flushed, or replaced by a lagging replica therefore grants no unit
//! twice, and units that nodes granted meanwhile count. They are not added up: `n` nodes without Redis grant at most `n`
//! budgets in a window.
//!
//! A node uses its own clock until the first response of Redis, and afterwards the clock of Redis, also while it is
//! unreachable. Synchronise both clocks to within a second.
//!
//! # Operation
//!
//! - Use Redis 5 or later, or any Valkey, as a single server or behind a cluster proxy: redirections are not followed. After
//!   a failover the same address must lead to the new primary.
//! - Persistence is not required: set `save ""` and `appendonly no`.
//! - A key takes about 150 bytes. Set `maxmemory` with `maxmemory-policy volatile-ttl` against floods of addresses: the
//!   keys that expire soonest are evicted first, and the nodes restore them. With `noeviction` a full Redis fails charges.
//! - The account requires `~forum_api:*` and `+evalsha +script|load +time +get +set +select +client|setinfo`.
//! - `unix:///run/redis.sock` is a valid address; `rediss://` is not: use a TLS tunnel, such as stunnel.

mod connection;
mod rate_limits;
mod script;

pub use rate_limits::{RedisFallback, RedisRateLimitStore, RedisSettings};
