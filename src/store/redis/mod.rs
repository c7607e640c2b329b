//! Rate limits in Redis or Valkey (feature `redis`), exact across all nodes that share it.
//!
//! ```no_run
//! use std::sync::Arc;
//! use forum_api::store::redis::{RedisRateLimitStore, RedisSettings};
//! use forum_api::host::BackendResult;
//! use forum_api::store::Stores;
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
//! Each node copies the state of the windows that Redis returns to a
//! [`MemoryRateLimitStore`](super::memory::MemoryRateLimitStore). If a charge fails in Redis, or Redis does not respond
//! within [`RedisSettings::timeout`], the node charges this local copy instead. It tries to reconnect in the
//! background, at once and then every half second, until Redis accepts a charge. It logs one line when Redis becomes
//! unreachable, and one when it recovers. With [`RedisFallback::Refuse`] it refuses requests instead.
//!
//! Each charge sends the node's local state to the script. For a running window, the script keeps the greater count and
//! the later end. Units that were charged before Redis lost its data (restart, flush, failover to a lagging replica),
//! or while Redis was unreachable, therefore stay charged. The script does not add up the counts of several nodes:
//! while Redis is unreachable, `n` nodes together grant at most `n` budgets in a window.
//!
//! A node uses its own clock until the first response of Redis, and afterwards the clock of Redis, which it
//! extrapolates while Redis is unreachable. Synchronise both clocks to within a second.
//!
//! # Operation
//!
//! - Use Redis 5 or later, or any version of Valkey, as a single server or behind a cluster proxy: redirections are not
//!   followed. After a failover the same address must lead to the new primary.
//! - Persistence is not required: set `save ""` and `appendonly no`.
//! - A key takes about 150 bytes. Set `maxmemory` with `maxmemory-policy volatile-ttl` in case requests come from very
//!   many addresses: Redis then evicts the keys that expire soonest, and the nodes restore them. With `noeviction`,
//!   charges fail while Redis is full.
//! - The Redis user requires `~forum_api:*` and `+evalsha +script|load +time +get +set +select +client|setinfo`.
//! - Other valid addresses are `unix:///run/redis.sock` and, for TLS, `rediss://`.

mod connection;
mod rate_limits;
mod script;
mod servers;
mod settings;

pub use rate_limits::RedisRateLimitStore;
pub use settings::{RedisFallback, RedisSettings};
