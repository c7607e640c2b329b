//! Budgets in Redis or Valkey (feature `redis`), exact between all nodes that share it (contract, section 3).
//!
//! ```no_run
//! use std::sync::Arc;
//! use forum_api::host::Stored;
//! use forum_api::store::Stores;
//! use forum_api::store::redis::{RedisBudgets, Settings};
//!
//! async fn stores() -> Stored<Stores> {
//!     let budgets = RedisBudgets::connect("redis://:secret@10.0.0.7:6379/0", Settings::default()).await?;
//!     Ok(Stores { budgets: Arc::new(budgets), ..Stores::in_memory() })
//! }
//! ```
//!
//! # In Redis
//!
//! A charge is one script on one key, by Redis's own clock. All keys begin with a prefix of the board's
//! ([`Settings::prefix`]), and each goes with its window:
//!
//! | key | whose budget |
//! |---|---|
//! | `forum_api:budget:token:LOOKUP` | a token's |
//! | `forum_api:budget:prefix:ADDRESS` | that of the guests of an address prefix: 32 hexadecimal digits, IPv4 as IPv4-mapped IPv6 |
//! | `forum_api:budget:no_address` | that of guests without any address |
//! | `forum_api:budget:attempts:HASH` | failed password attempts of one account or address prefix: 32 hexadecimal digits |
//! | `forum_api:budget:probe` | nobody's: charged to see whether Redis serves |
//!
//! ```lua
#![doc = include_str!("charge.lua")]
//! ```
//!
//! # While it is out of reach
//!
//! What Redis answers the node remembers, in a [`MemoryBudgets`]: as exact, and as bounded. When Redis fails a charge, or
//! lets it wait for longer than [`Settings::patience`], the node goes on from there by itself, without asking again:
//! beside the charges it tries to connect, at once and then every half second, until Redis takes a charge. One line in
//! the log says that Redis is out of reach, and one that it is back. A [setting](WhenAway) refuses requests instead.
//!
//! On the way back nothing is handed out anew. Every charge tells the script what the node knows, and of a window that
//! still runs the greater count and the later end hold: so a Redis that was restarted empty, flushed or replaced by a
//! replica that lagged behind is told by the nodes what was spent, and what they granted meanwhile counts. It is not
//! added up: `n` nodes that each meter alone grant `n` budgets at most in a window.
//!
//! Until a node has heard of Redis for the first time it goes by its own clock; afterwards by Redis's, with or without
//! it. Keep both right to the second.
//!
//! # Operating it
//!
//! - Redis 5 or later, or any Valkey, on its own or behind a proxy for a cluster: of a cluster's nodes each serves only
//!   some keys, and a charge that is redirected has failed. After a failover the same address has to lead to the new
//!   primary; a replica takes no writes, so the nodes meter by themselves until it does.
//! - It needs no persistence: `save ""` and `appendonly no`.
//! - A key takes some 150 bytes. Where addresses may flood it, set `maxmemory` with `maxmemory-policy volatile-ttl`: what
//!   ends soonest goes first, and the nodes put back what they know. With `noeviction` a full Redis fails charges, and
//!   the nodes meter by themselves.
//! - An account needs `~forum_api:*` and `+evalsha +script|load +time +get +set +select +client|setinfo`.
//! - `unix:///run/redis.sock` is an address, too. `rediss://` is not: between machines that do not trust the network put
//!   a TLS tunnel in front, such as stunnel.

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
use crate::error::{Fault, Stored};
use crate::model::Timestamp;
use crate::rate_limit::{BudgetKey, Charge, Window};
use crate::store::Budgets;
use crate::store::memory::MemoryBudgets;

/// Budgets in Redis, and on this node while Redis is out of reach: see the [module](self).
pub struct RedisBudgets {
    connection: Arc<ReconnectingConnection>,
    settings: Settings,
    /// What this node knows of budgets, all by Redis's clock.
    known: MemoryBudgets,
    /// How many milliseconds Redis's clock is ahead of the node's.
    ahead: AtomicI64,
}

impl RedisBudgets {
    /// Budgets in the Redis at `url`: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`.
    ///
    /// It waits for a connection for as long as [`Settings::patience`] lasts. A Redis that is out of reach then is no
    /// error: the node meters by itself until it is there. Has to be awaited on a tokio runtime, like every charge.
    ///
    /// # Errors
    /// When `url` is no such address.
    pub async fn connect(url: &str, settings: Settings) -> Stored<Self> {
        let client = Client::open(url).map_err(|_| Fault::new(EXPECTED))?;
        let connection =
            ReconnectingConnection::new(client, probe_key(&settings.prefix), settings.patience);
        let connection = Arc::new(connection);
        connection.connect().await;
        Ok(Self {
            connection,
            settings,
            known: MemoryBudgets::default(),
            ahead: AtomicI64::new(0),
        })
    }

    /// Whether Redis is out of reach.
    pub fn is_away(&self) -> bool {
        self.connection.is_away()
    }

    /// How many charges, and attempts to connect, have failed so far.
    pub fn failures(&self) -> u64 {
        self.connection.failures()
    }

    async fn charge_in_redis(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Stored<Charge> {
        let answer = self.ask(key, cost.into(), window, now).await?;
        if let Some(budget) = answer.budget() {
            self.known.note(key, budget, window, answer.now);
        }
        Ok(answer.charge(window))
    }

    /// Charges `cost` units in Redis, or refunds them if negative.
    async fn ask(
        &self,
        key: &BudgetKey,
        cost: i64,
        window: Window,
        now: Timestamp,
    ) -> Stored<ChargeReply> {
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

    fn charge_locally(&self, key: &BudgetKey, cost: u32, window: Window, now: Timestamp) -> Charge {
        self.known.charge_now(key, cost, window, self.in_redis(now))
    }

    /// The time in Redis, as far as this node knows it.
    fn in_redis(&self, now: Timestamp) -> Timestamp {
        let ahead = self.ahead.load(Ordering::Relaxed);
        Timestamp::from_millis(now.as_millis().saturating_add(ahead))
    }
}

const EXPECTED: &str =
    "expected the address of a Redis as redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]";

#[async_trait]
impl Budgets for RedisBudgets {
    async fn charge(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Stored<Charge> {
        let charge = self.charge_in_redis(key, cost, window, now).await;
        match self.settings.when_away {
            WhenAway::MeterAlone => {
                Ok(charge.unwrap_or_else(|_| self.charge_locally(key, cost, window, now)))
            }
            WhenAway::Refuse => charge,
        }
    }

    async fn refund(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Stored<()> {
        let refunded = self.ask(key, -i64::from(cost), window, now).await;
        self.known.refund_now(key, cost, window, self.in_redis(now));
        match self.settings.when_away {
            WhenAway::MeterAlone => Ok(()),
            WhenAway::Refuse => refunded.map(drop),
        }
    }
}

impl fmt::Debug for RedisBudgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBudgets")
            .field("settings", &self.settings)
            .field("is_away", &self.is_away())
            .finish_non_exhaustive()
    }
}

/// The settings of [`RedisBudgets`](super::RedisBudgets). Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the name of every key begins with: nodes of one board share it, and several boards in one Redis each have
    /// their own. Default: `forum_api:`.
    pub prefix: String,
    /// How long a charge waits for Redis at most, and a new connection too. Default: 250 ms.
    pub patience: Duration,
    /// What becomes of charges while Redis is out of reach. Default: [`WhenAway::MeterAlone`].
    pub when_away: WhenAway,
}

/// What becomes of charges while Redis is out of reach (contract, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAway {
    /// The node meters by itself, going on from what it last knew, and requests go on.
    #[default]
    MeterAlone,
    /// Requests are refused with 500 `internal_error`.
    Refuse,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prefix: "forum_api:".into(),
            patience: Duration::from_millis(250),
            when_away: WhenAway::default(),
        }
    }
}

/// The name of a budget.
fn key_name(prefix: &str, key: &BudgetKey) -> String {
    match key {
        BudgetKey::Token(lookup) => format!("{prefix}budget:token:{lookup}"),
        BudgetKey::Prefix(address) => format!("{prefix}budget:prefix:{address:032x}"),
        BudgetKey::NoAddress => format!("{prefix}budget:no_address"),
        BudgetKey::Attempts(hash) => format!("{prefix}budget:attempts:{hash:032x}"),
    }
}

/// What is charged to see whether Redis serves, and nobody's.
fn probe_key(prefix: &str) -> String {
    format!("{prefix}budget:probe")
}
