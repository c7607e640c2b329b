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
//!     let mut stores = Stores::in_memory();
//!     stores.rate_limits = Arc::new(rate_limits);
//!     Ok(stores)
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
//! | `forum_api:budget:check` | charged by [`RedisRateLimitStore::check`] |
//! | `forum_api:budget:probe{KEY}` | charged to check that Redis takes writes, in the slot of the key of a failed charge |
//!
//! ```lua
#![doc = include_str!("charge.lua")]
//! ```
//!
//! # Sentinel and Cluster
//!
//! [`RedisRateLimitStore::connect`] accepts three kinds of URLs. With `rediss` instead of `redis` they use TLS:
//!
//! | URL | servers |
//! |---|---|
//! | `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]` | one server, a proxy, or an address that leads to the current primary |
//! | `redis+sentinel://[[USER]:PASSWORD@]HOST[:PORT],…/MASTER[/DATABASE]` | the master of this name, which the sentinels know. The parameters `sentinel_username` and `sentinel_password` are the credentials of the sentinels, if they require any |
//! | `redis+cluster://[[USER]:PASSWORD@]HOST[:PORT],…` | all nodes of the cluster that these nodes belong to |
//!
//! The credentials in front of the hosts are those of the servers with data. The default port is 6379, and that of a
//! sentinel 26379. With TLS, the certificates must be valid for the addresses that sentinels and nodes announce: set
//! `sentinel announce-hostnames yes`, or `cluster-preferred-endpoint-type hostname`, if they are issued for host names.
//!
//! After a charge on a failed master, Redis counts as unreachable until the master is replaced. In a cluster this applies
//! to the charges on all masters. The driver repeats a charge on a cluster if its connection closes before the response.
//! Such a charge can count twice.
//!
//! # While Redis is unreachable
//!
//! Each node copies the state of the windows that Redis returns to a
//! [`MemoryRateLimitStore`](super::memory::MemoryRateLimitStore). If a charge fails in Redis, or Redis does not respond
//! within [`RedisSettings::timeout`], the node charges this local copy instead. It tries to reconnect in the
//! background, at once and then half a second after each failed attempt, until Redis accepts a charge. It logs one line
//! when Redis becomes unreachable, and one when it recovers. With [`RedisFallback::Refuse`] it refuses requests instead.
//!
//! Each charge sends the node's local state to the script. For a running window, the script keeps the greater count and
//! the later end. Units that were charged before Redis lost its data (restart, flush, failover to a lagging replica),
//! or while Redis was unreachable, therefore stay charged. The script does not add up the counts of several nodes:
//! while Redis is unreachable, `n` nodes together grant at most `n` budgets in a window.
//!
//! A node uses its own clock until the first response of Redis, and afterwards the clock of Redis, which it
//! extrapolates while Redis is unreachable. Synchronise the clocks of all nodes and Redis servers to within a second.
//!
//! # Operation
//!
//! - Use Redis 7 or later, or Valkey. The tests run on Redis 7 and on Valkey 9.
//! - Persistence is not required: set `save ""` and `appendonly no`.
//! - A key takes about 150 bytes. Set `maxmemory` with `maxmemory-policy noeviction`: charges fail while Redis is full,
//!   and each node charges its own budgets. A node restores an evicted key only as far as it charged the key itself.
//! - The Redis user requires `~forum_api:*` and `+evalsha +script|load +time +get +set +select +client|setinfo`,
//!   with Sentinel also `+role`, and in a cluster also `+cluster|slots +ping +asking`. The user of the sentinels requires
//!   `+role +sentinel|masters`.
//! - `unix:///run/redis.sock` is also a valid address.

mod connection;
mod rate_limits;
mod script;
mod servers;
mod settings;

pub use rate_limits::RedisRateLimitStore;
pub use settings::{RedisFallback, RedisSettings};
