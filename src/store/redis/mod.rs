//! Budgets in Redis or Valkey (feature `redis`), exact between all nodes that share it.
//!
//! ```no_run
//! use std::sync::Arc;
//! use forum_api::host::Stored;
//! use forum_api::store::Stores;
//! use forum_api::store::redis::{RedisRateLimitStore, Settings};
//!
//! async fn stores() -> Stored<Stores> {
//!     let budgets = RedisRateLimitStore::connect("redis://:secret@10.0.0.7:6379/0", Settings::default()).await?;
//!     Ok(Stores { budgets: Arc::new(budgets), ..Stores::in_memory() })
//! }
//! ```
//!
//! # Keys
//!
//! A charge is one script on one key, by Redis's own clock. All keys begin with a prefix ([`Settings::prefix`]), and each
//! expires with its window:
//!
//! | key | budget |
//! |---|---|
//! | `forum_api:budget:token:LOOKUP` | of a token |
//! | `forum_api:budget:prefix:ADDRESS` | of the guests of an address prefix: 32 hexadecimal digits, IPv4 as IPv4-mapped IPv6 |
//! | `forum_api:budget:no_address` | of guests without an address |
//! | `forum_api:budget:attempts:HASH` | failed password attempts of one account or address prefix: 32 hexadecimal digits |
//! | `forum_api:budget:probe` | charged to check that Redis takes writes |
//!
//! ```lua
#![doc = include_str!("charge.lua")]
//! ```
//!
//! # While Redis is unreachable
//!
//! The node remembers the responses of Redis in a [`MemoryRateLimitStore`]. When Redis fails a charge, or does not respond within
//! [`Settings::patience`], the node continues from there without Redis. In the background it tries to connect, at once and
//! then every half second, until Redis takes a charge. The log has one line when Redis becomes unreachable, and one when it
//! is back. A [setting](RedisFallback) refuses requests instead.
//!
//! Every charge sends the state that the node knows to the script; of a running window the greater count and the later end
//! hold. So no unit is granted twice by a Redis that was restarted empty, flushed, or replaced by a replica that lagged, and
//! units that nodes granted meanwhile count. They are not added up: `n` nodes without Redis grant at most `n` budgets in a
//! window.
//!
//! Until the first response of Redis a node uses its own clock; afterwards the clock of Redis, also while it is
//! unreachable. Keep both right to the second.
//!
//! # Operation
//!
//! - Redis 5 or later, or any Valkey, on its own or behind a proxy for a cluster: a redirected charge has failed. After a
//!   failover the same address has to lead to the new primary.
//! - It needs no persistence: `save ""` and `appendonly no`.
//! - A key takes about 150 bytes. Set `maxmemory` with `maxmemory-policy volatile-ttl` against floods of addresses: keys that
//!   expire soonest are evicted first, and the nodes restore them. With `noeviction` a full Redis fails charges.
//! - An account needs `~forum_api:*` and `+evalsha +script|load +time +get +set +select +client|setinfo`.
//! - `unix:///run/redis.sock` is a valid address; `rediss://` is not: use a TLS tunnel, such as stunnel.

mod connection;
mod script;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use redis::Client;

use self::connection::ReconnectingConnection;
use self::script::{ChargeReply, ChargeRequest};
use crate::error::{BackendError, BackendResult};
use crate::model::Timestamp;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use crate::store::RateLimitStore;
use crate::store::memory::MemoryRateLimitStore;

/// Budgets in Redis, and on this node while Redis is unreachable: see the [module](self).
pub struct RedisRateLimitStore {
    connection: Arc<ReconnectingConnection>,
    settings: RedisSettings,
    /// The last known budgets, by Redis's clock.
    known: MemoryRateLimitStore,
    /// Milliseconds by which Redis's clock is ahead of the node's.
    ahead: AtomicI64,
}

impl RedisRateLimitStore {
    /// Budgets in the Redis at `url`: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`.
    ///
    /// It waits for a connection for up to [`Settings::patience`]. A Redis that is unreachable then is not an error: the node
    /// charges locally until it is reachable. Has to be awaited on a tokio runtime, like every charge.
    ///
    /// # Errors
    /// When `url` is malformed.
    pub async fn connect(url: &str, settings: RedisSettings) -> BackendResult<Self> {
        let client = Client::open(url).map_err(|_| BackendError::new(EXPECTED))?;
        let connection =
            ReconnectingConnection::new(client, probe_key(&settings.prefix), settings.timeout);
        let connection = Arc::new(connection);
        connection.connect().await;
        Ok(Self {
            connection,
            settings,
            known: MemoryRateLimitStore::default(),
            ahead: AtomicI64::new(0),
        })
    }

    /// Returns whether Redis is unreachable.
    pub fn is_unreachable(&self) -> bool {
        self.connection.is_away()
    }

    /// Number of failed charges and attempts to connect so far.
    pub fn failures(&self) -> u64 {
        self.connection.failures()
    }

    async fn charge_in_redis(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision> {
        let answer = self.ask(key, cost.into(), window, now).await?;
        if let Some(budget) = answer.budget() {
            self.known.note(key, budget, window, answer.now);
        }
        Ok(answer.charge(window))
    }

    /// Charges `cost` units in Redis, or refunds them if negative.
    async fn ask(
        &self,
        key: &RateLimitKey,
        cost: i64,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<ChargeReply> {
        let request = ChargeRequest {
            key: &key_name(&self.settings.prefix, key),
            cost,
            window,
            known: self.known.known(key),
        };
        let answer = self.connection.ask(&request).await?;
        let ahead = answer.now.as_millis().saturating_sub(now.as_millis());
        self.ahead.store(ahead, Ordering::Relaxed);
        Ok(answer)
    }

    fn charge_locally(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> RateLimitDecision {
        self.known.charge_now(key, cost, window, self.in_redis(now))
    }

    /// The time in Redis, as far as this node knows it.
    fn in_redis(&self, now: Timestamp) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        Timestamp::from_millis(now.as_millis().saturating_add(ahead))
    }
}

const EXPECTED: &str = "expected a Redis URL: redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]";

#[async_trait]
impl RateLimitStore for RedisRateLimitStore {
    async fn charge(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision> {
        let charge = self.charge_in_redis(key, cost, window, now).await;
        match self.settings.fallback {
            RedisFallback::Local => {
                Ok(charge.unwrap_or_else(|_| self.charge_locally(key, cost, window, now)))
            }
            RedisFallback::Refuse => charge,
        }
    }

    async fn refund(
        &self,
        key: &RateLimitKey,
        cost: u32,
        window: Budget,
        now: Timestamp,
    ) -> BackendResult<()> {
        let refunded = self.ask(key, -i64::from(cost), window, now).await;
        self.known.refund_now(key, cost, window, self.in_redis(now));
        match self.settings.fallback {
            RedisFallback::Local => Ok(()),
            RedisFallback::Refuse => refunded.map(drop),
        }
    }
}

impl fmt::Debug for RedisRateLimitStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRateLimitStore")
            .field("settings", &self.settings)
            .field("is_away", &self.is_unreachable())
            .finish_non_exhaustive()
    }
}

/// The settings of [`RedisRateLimitStore`]. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct RedisSettings {
    /// Prefix of all keys. Nodes of one board share it; several boards in one Redis have different ones. Default:
    /// `forum_api:`.
    pub prefix: String,
    /// Limit of the wait for a response and for a new connection. Default: 250 ms.
    pub timeout: Duration,
    /// Treatment of charges while Redis is unreachable. Default: [`RedisFallback::Local`].
    pub fallback: RedisFallback,
}

/// Treatment of charges while Redis is unreachable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedisFallback {
    /// The node charges locally, from the last known state.
    #[default]
    Local,
    /// Requests are refused with 500 `internal_error`.
    Refuse,
}

impl Default for RedisSettings {
    fn default() -> Self {
        Self {
            prefix: "forum_api:".into(),
            timeout: Duration::from_millis(250),
            fallback: RedisFallback::default(),
        }
    }
}

/// The name of a budget.
fn key_name(prefix: &str, key: &RateLimitKey) -> String {
    match key {
        RateLimitKey::Token(lookup) => format!("{prefix}budget:token:{lookup}"),
        RateLimitKey::Prefix(address) => format!("{prefix}budget:prefix:{address:032x}"),
        RateLimitKey::UnknownAddress => format!("{prefix}budget:no_address"),
        RateLimitKey::Attempts(hash) => format!("{prefix}budget:attempts:{hash:032x}"),
    }
}

/// The key that is charged to check that Redis takes writes.
fn probe_key(prefix: &str) -> String {
    format!("{prefix}budget:probe")
}
