//! Rate limit store.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;

use super::connection::ReconnectingConnection;
use super::script::{ChargeReply, ChargeRequest};
use super::servers::Servers;
use super::settings::{RedisFallback, RedisSettings};
use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use crate::store::RateLimitStore;
use crate::store::memory::MemoryRateLimitStore;

/// Rate limit store in Redis, with a local fallback while Redis is unreachable. See the [module](super).
pub struct RedisRateLimitStore {
    connection: Arc<ReconnectingConnection>,
    settings: RedisSettings,
    /// The last known windows, by the clock of Redis.
    known: MemoryRateLimitStore,
    /// Milliseconds by which the clock of Redis is ahead of the node's.
    clock_offset: AtomicI64,
}

impl RedisRateLimitStore {
    /// Connects to the Redis at `url`: one server, sentinels or a cluster, with or without TLS. See the
    /// [module](super#sentinel-and-cluster) for the forms of `url`.
    ///
    /// With TLS, a trusted root must have signed the server's certificate for its host name. The parameter
    /// `?sslrootcert=FILE` names a PEM file with the trusted roots. Default: the roots of the system.
    ///
    /// Waits for a connection for up to [`RedisSettings::timeout`], with Sentinel twice and with a cluster four times as
    /// long. An unreachable Redis is not an error: the [fallback](RedisSettings::fallback) applies until it is reachable.
    ///
    /// This method and all charges must run on a tokio runtime.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if `url` is malformed, has `sslrootcert` without TLS, or the root
    /// certificates cannot be read.
    pub async fn connect(url: &str, settings: RedisSettings) -> BackendResult<Self> {
        let servers = Servers::parse(url, settings.timeout)?;
        let connection = Arc::new(ReconnectingConnection::new(servers, &settings));
        connection.connect().await;
        Ok(Self {
            connection,
            settings,
            known: MemoryRateLimitStore::default(),
            clock_offset: AtomicI64::new(0),
        })
    }

    /// Returns `true` if Redis was unreachable at the last attempt.
    pub fn is_unreachable(&self) -> bool {
        self.connection.is_unreachable()
    }

    /// Asks Redis for a charge of a key that nothing else uses, and returns `true` if it succeeds within
    /// [`RedisSettings::timeout`]. A failure has the consequences of a failed charge: one log line, and attempts to reconnect.
    ///
    /// Only charges notice that Redis is lost. Call this method periodically, for example every 10 s, to notice it on a node
    /// without requests.
    pub async fn check(&self) -> bool {
        self.connection.check().await
    }

    /// Returns the number of failed requests and connection attempts since [`connect`](Self::connect). A charge while Redis
    /// is unreachable sends no request and is not counted.
    pub fn failures(&self) -> u64 {
        self.connection.failures()
    }

    async fn charge_in_redis(
        &self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision> {
        let reply = self.request(key, cost.into(), budget, now).await?;
        if let Some(state) = reply.window_state() {
            self.known.merge(key, state, budget, reply.now);
        }
        Ok(reply.decision(budget))
    }

    /// Charges `cost` units in Redis, or refunds them if negative.
    async fn request(
        &self,
        key: &RateLimitKey,
        cost: i64,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<ChargeReply> {
        let request = ChargeRequest {
            key: &key_name(&self.settings.prefix, key),
            cost,
            budget,
            known: self.known.known(key),
        };
        let reply = self.connection.send(&request).await?;
        let clock_offset = reply.now.as_millis().saturating_sub(now.as_millis());
        self.clock_offset.store(clock_offset, Ordering::Relaxed);
        Ok(reply)
    }

    /// Returns the time of Redis at the node's time `now`.
    fn redis_time(&self, now: Timestamp) -> Timestamp {
        let clock_offset = self.clock_offset.load(Ordering::Relaxed);
        Timestamp::from_millis(now.as_millis().saturating_add(clock_offset))
    }
}

#[async_trait]
impl RateLimitStore for RedisRateLimitStore {
    async fn charge(
        &self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<RateLimitDecision> {
        match self.charge_in_redis(key, cost, budget, now).await {
            Err(_) if self.settings.fallback == RedisFallback::Local => {
                let now = self.redis_time(now);
                self.known.charge(key, cost, budget, now).await
            }
            decision => decision,
        }
    }

    async fn refund(
        &self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
    ) -> BackendResult<()> {
        let refunded = self.request(key, -i64::from(cost), budget, now).await;
        let now = self.redis_time(now);
        self.known.refund(key, cost, budget, now).await?;
        match self.settings.fallback {
            RedisFallback::Local => Ok(()),
            RedisFallback::Refuse => refunded.map(drop),
        }
    }
}

debug_fields!(RedisRateLimitStore, |it| settings: it.settings, is_unreachable: it.is_unreachable());

/// Returns the key of a budget.
fn key_name(prefix: &str, key: &RateLimitKey) -> String {
    match key {
        RateLimitKey::Token(lookup) => format!("{prefix}budget:token:{lookup}"),
        RateLimitKey::Prefix(address) => format!("{prefix}budget:prefix:{address:032x}"),
        RateLimitKey::UnknownAddress => format!("{prefix}budget:no_address"),
        RateLimitKey::PasswordAttempts(hash) => format!("{prefix}budget:attempts:{hash:032x}"),
    }
}
