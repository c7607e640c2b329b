//! Connection to Redis, shared by all charges: it is dropped at the first failure and re-established in the background.
//!
//! The driver's `ConnectionManager` is not used: it connects to the same server again without asking the sentinels, has
//! no variant for clusters, and does not check that the server accepts writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use redis::{RedisError, RedisResult, Script};
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::script::{ChargeReply, ChargeRequest, script};
use super::servers::{Connection, Servers};
use super::settings::{RedisFallback, RedisSettings};
use crate::error::{BackendError, BackendResult, OverloadedError};
use crate::error_chain::ErrorChain;
use crate::lock::lock;
use crate::metrics::recorder;
use crate::rate_limit::Budget;
use crate::runtime::{Runtime, TokioRuntime};

/// Label of the store of budgets in the metrics.
const STORE: &str = "budgets";
/// Maximum number of causes of an outage that are logged.
const MAX_CAUSES: usize = 8;
/// Interval between two connection attempts.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(500);
/// Time after which a client may repeat a refused request.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Budget that is charged on a new connection and by a check, so that a Redis that rejects writes does not count as reachable.
const PROBE: Budget = Budget { units: u32::MAX, window: Duration::from_secs(1) };

/// Error of a charge. The request that it was for does not run.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
struct NotChargedError {
    reason: String,
    #[source]
    overloaded: OverloadedError,
}

fn not_charged(reason: impl ToString) -> BackendError {
    let overloaded = OverloadedError::new(RETRY_AFTER);
    BackendError::new(NotChargedError { reason: reason.to_string(), overloaded })
}

/// Connection that reconnects in the background.
pub(super) struct ReconnectingConnection {
    servers: Servers,
    script: Script,
    /// Prefix of the keys that are charged to check a connection.
    probe: String,
    /// Key that [`check`](Self::check) charges.
    check_key: String,
    timeout: Duration,
    fallback: RedisFallback,
    /// `None` while Redis is unreachable.
    connection: Mutex<Option<Arc<Connection>>>,
    /// Held by the task that connects.
    reconnecting: Arc<tokio::sync::Mutex<()>>,
    failures: AtomicU64,
}

impl ReconnectingConnection {
    pub(super) fn new(servers: Servers, settings: &RedisSettings) -> Self {
        Self {
            servers,
            script: script(),
            probe: format!("{}budget:probe", settings.prefix),
            check_key: format!("{}budget:check", settings.prefix),
            timeout: settings.timeout,
            fallback: settings.fallback,
            connection: Mutex::default(),
            reconnecting: Arc::default(),
            failures: AtomicU64::new(0),
        }
    }

    /// Sends a request and waits for the reply until the timeout. Fails at once while Redis is unreachable.
    pub(super) async fn send(
        self: &Arc<Self>,
        request: &ChargeRequest<'_>,
    ) -> BackendResult<ChargeReply> {
        let Some(connection) = lock(&self.connection).clone() else {
            self.reconnect(request.key);
            return Err(not_charged("Redis is unreachable"));
        };
        let exchange = request.send(&self.script, connection.as_ref().clone());
        let reply = self.with_timeout(self.timeout, exchange).await;
        reply
            .inspect_err(|error| self.disconnect(&connection, request.key, error))
            .map_err(|error| not_charged(ErrorChain(&error)))
    }

    /// Connects, or logs that Redis is unreachable and retries in the background.
    pub(super) async fn connect(self: &Arc<Self>) {
        if let Err(error) = self.try_connect("").await {
            self.log_unreachable(&error);
            self.reconnect("");
        }
    }

    /// Charges a key of its own. A failure is treated like that of another charge.
    pub(super) async fn check(self: &Arc<Self>) -> bool {
        let check = ChargeRequest { key: &self.check_key, cost: 1, budget: PROBE, known: None };
        self.send(&check).await.is_ok()
    }

    pub(super) fn is_unreachable(&self) -> bool {
        lock(&self.connection).is_none()
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Drops a failed connection and reconnects, unless another charge has done so.
    fn disconnect(self: &Arc<Self>, failed: &Arc<Connection>, key: &str, error: &BackendError) {
        let is_failed = |connection: &mut Arc<_>| Arc::ptr_eq(connection, failed);
        if lock(&self.connection).take_if(is_failed).is_some() {
            self.log_unreachable(error);
            self.reconnect(key);
        }
    }

    /// Reconnects in the background until a charge in the slot of `key` succeeds, unless a task does so already. Each failed
    /// charge calls it, because that task may have ended with its runtime.
    fn reconnect(self: &Arc<Self>, key: &str) {
        if let Ok(guard) = Arc::clone(&self.reconnecting).try_lock_owned() {
            let reconnect = reconnect_loop(Arc::downgrade(self), key.to_owned(), guard);
            drop(TokioRuntime.spawn(Box::pin(reconnect)));
        }
    }

    /// Connects, and charges a key in the slot of `key`: in a cluster, another node can accept charges while the node of the
    /// failed charge does not.
    async fn try_connect(&self, key: &str) -> BackendResult<()> {
        let probe = ChargeRequest {
            key: &format!("{}{{{key}}}", self.probe),
            cost: 1,
            budget: PROBE,
            known: None,
        };
        let attempt = self.failures.load(Ordering::Relaxed) as usize;
        let connect = async {
            let connection = self.servers.connect(attempt).await?;
            probe.send(&self.script, connection.clone()).await?;
            Ok(connection)
        };
        let duration = self.timeout.saturating_mul(self.servers.connect_timeouts());
        let connection = self.with_timeout(duration, connect).await?;
        *lock(&self.connection) = Some(Arc::new(connection));
        Ok(())
    }

    /// Runs an operation with a timeout. Counts and logs a failure.
    async fn with_timeout<T>(
        &self,
        duration: Duration,
        operation: impl Future<Output = RedisResult<T>>,
    ) -> BackendResult<T> {
        let result = match timeout(duration, operation).await {
            Ok(result) => result.map_err(without_arguments),
            Err(_) => Err(BackendError::new("the Redis request timed out")),
        };
        result.inspect_err(|error| {
            self.failures.fetch_add(1, Ordering::Relaxed);
            // Refused charges return their errors, and the API records them in the metrics.
            if self.fallback == RedisFallback::Local {
                recorder::record_store_error(STORE);
            }
            tracing::debug!(error = %ErrorChain(error), "Redis request failed");
        })
    }

    fn log_unreachable(&self, error: &BackendError) {
        let error = ErrorChain(error);
        match self.fallback {
            RedisFallback::Local => {
                tracing::error!(%error, "Redis unreachable; rate limits are local until it recovers");
            }
            RedisFallback::Refuse => {
                tracing::error!(%error, "Redis unreachable; requests are refused until it recovers");
            }
        }
    }
}

/// Returns an error with the same text. A server's error is its code, and its text before the first quotation mark, because
/// the error of an unknown command quotes the arguments, such as the password of `HELLO`.
fn without_arguments(error: RedisError) -> BackendError {
    let Some(code) = error.code() else {
        return BackendError::new(error.to_string());
    };
    let detail = error.detail().unwrap_or_default();
    let is_apostrophe = |at| {
        let before = detail.get(..at);
        before.is_some_and(|before| before.ends_with(char::is_alphabetic))
    };
    let mut marks = detail.match_indices(['`', '\'', '"']);
    let end = marks.find(|(at, _)| !is_apostrophe(*at));
    let shown = end.and_then(|(end, _)| detail.get(..end)).unwrap_or(detail);
    BackendError::new(format!("{code} {shown}").trim_end().to_owned())
}

async fn reconnect_loop(
    connection: Weak<ReconnectingConnection>,
    key: String,
    _guard: OwnedMutexGuard<()>,
) {
    let mut logged = Vec::new();
    while let Some(connection) =
        connection.upgrade().filter(|connection| connection.is_unreachable())
    {
        let Err(error) = connection.try_connect(&key).await else {
            return tracing::info!("Redis recovered; rate limits are shared");
        };
        drop(connection);
        let error = ErrorChain(&error).to_string();
        // An outage that begins with a closed connection can have another cause, and each of several servers its own.
        if logged.len() < MAX_CAUSES && !logged.contains(&error) {
            tracing::warn!(%error, "Redis is still unreachable");
            logged.push(error);
        }
        tokio::time::sleep(RECONNECT_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use redis::parse_redis_value;

    use super::without_arguments;

    #[test]
    fn an_error_of_the_server_has_its_code_and_no_arguments() {
        for (line, expected) in [
            (
                "-OOM command not allowed when used memory > 'maxmemory'.",
                "OOM command not allowed when used memory >",
            ),
            ("-WRONGTYPE Operation against a key", "WRONGTYPE Operation against a key"),
            (
                "-READONLY You can't write against a read only replica.",
                "READONLY You can't write against a read only replica.",
            ),
            (
                "-ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 's3cret'",
                "ERR unknown command",
            ),
            ("-NOPERM", "NOPERM"),
        ] {
            let value = parse_redis_value(format!("{line}\r\n").as_bytes()).unwrap();
            let error = value.extract_error().unwrap_err();
            assert_eq!(without_arguments(error).to_string(), expected);
        }
    }
}
