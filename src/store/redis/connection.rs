//! Connection to Redis: one for all charges, dropped at its first failure and opened again in the background.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisResult, Script};
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::script::{ChargeReply, ChargeRequest, script};
use crate::error::{BackendError, BackendResult};
use crate::metrics::recorder;
use crate::rate_limit::Budget;
use crate::runtime::{Runtime, TokioRuntime};
use crate::store::lock;

/// How long to wait from one attempt to connect to the next.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(500);
/// How many charges one connection takes before the next ones wait for a place.
const PIPELINE_CAPACITY: usize = 1024;
/// What is charged on a new connection, so that a Redis that takes no writes does not count as one that is back.
const PROBE: Budget = Budget {
    units: u32::MAX,
    window: Duration::from_secs(1),
};

/// Where Redis is, and whether it is within reach.
pub(super) struct ReconnectingConnection {
    client: Client,
    script: Script,
    /// The key that is charged to check a connection.
    probe: String,
    timeout_after: Duration,
    /// `None` while Redis is out of reach.
    connection: Mutex<Option<Arc<MultiplexedConnection>>>,
    /// Held by the one that connects.
    turn: Arc<tokio::sync::Mutex<()>>,
    failures: AtomicU64,
}

impl ReconnectingConnection {
    pub(super) fn new(client: Client, probe: String, timeout_after: Duration) -> Self {
        Self {
            client,
            script: script(),
            probe,
            timeout_after,
            connection: Mutex::default(),
            turn: Arc::default(),
            failures: AtomicU64::new(0),
        }
    }

    /// Asks Redis for as long as timeout_after lasts; not at all while it is out of reach.
    pub(super) async fn ask(
        self: &Arc<Self>,
        request: &ChargeRequest<'_>,
    ) -> BackendResult<ChargeReply> {
        let Some(connection) = self.connection().clone() else {
            self.reconnect();
            return Err(BackendError::new("Redis is unreachable"));
        };
        let asking = request.ask(&self.script, connection.as_ref().clone());
        let answer = self.in_time(asking).await;
        answer.inspect_err(|fault| self.drop_connection(&connection, fault))
    }

    /// Connects, or says that Redis is out of reach and goes on trying beside whatever comes.
    pub(super) async fn connect(self: &Arc<Self>) {
        if let Err(fault) = self.attempt().await {
            log_unreachable(&fault);
            self.reconnect();
        }
    }

    pub(super) fn is_away(&self) -> bool {
        self.connection().is_none()
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    fn connection(&self) -> MutexGuard<'_, Option<Arc<MultiplexedConnection>>> {
        lock(&self.connection)
    }

    /// Gives up a connection, if no other charge did before.
    fn drop_connection(self: &Arc<Self>, lost: &Arc<MultiplexedConnection>, fault: &BackendError) {
        let is_lost = |connection: &mut Arc<_>| Arc::ptr_eq(connection, lost);
        if self.connection().take_if(is_lost).is_some() {
            log_unreachable(fault);
            self.reconnect();
        }
    }

    /// Starts to connect, unless another task does. That task may have ended with its runtime, so every charge calls this.
    fn reconnect(self: &Arc<Self>) {
        if let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() {
            let work = reconnect_loop(Arc::downgrade(self), turn);
            drop(TokioRuntime.spawn(Box::pin(work)));
        }
    }

    async fn attempt(&self) -> BackendResult<()> {
        let probe = ChargeRequest {
            key: &self.probe,
            cost: 1,
            window: PROBE,
            known: None,
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_pipeline_buffer_size(PIPELINE_CAPACITY);
        let connecting = async {
            let connecting = self
                .client
                .get_multiplexed_async_connection_with_config(&config);
            let connection = connecting.await?;
            probe.ask(&self.script, connection.clone()).await?;
            Ok(connection)
        };
        let connection = self.in_time(connecting).await?;
        *self.connection() = Some(Arc::new(connection));
        Ok(())
    }

    /// Whatever Redis is request goes by here, and so does every failure.
    async fn in_time<T>(&self, asking: impl Future<Output = RedisResult<T>>) -> BackendResult<T> {
        let answer = match timeout(self.timeout_after, asking).await {
            Ok(answer) => answer.map_err(BackendError::new),
            Err(_) => Err(BackendError::new("the Redis request timed out")),
        };
        answer.inspect_err(|fault| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            recorder::record_store_error("budgets");
            tracing::debug!(error = %fault, "Redis request failed");
        })
    }
}

async fn reconnect_loop(connection: Weak<ReconnectingConnection>, _turn: OwnedMutexGuard<()>) {
    while let Some(connection) = connection
        .upgrade()
        .filter(|connection| connection.is_away())
    {
        if connection.attempt().await.is_ok() {
            return tracing::info!("Redis recovered; rate limits are shared");
        }
        drop(connection);
        tokio::time::sleep(RECONNECT_INTERVAL).await;
    }
}

fn log_unreachable(fault: &BackendError) {
    tracing::error!(error = %fault, "Redis unreachable; rate limits are local until it recovers");
}
