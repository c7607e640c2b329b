//! Connection pool.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Metrics, Pool, RecyclingMethod, Runtime,
};
use tokio::time::timeout;
use tokio_postgres::Config;

use super::error::PostgresError;
use super::tls::TlsMode;
use crate::lock::lock;

/// Timeout of the wait for a free connection and for a new one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Limit of unacknowledged data, and idle time before a keepalive probe.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval of keepalive probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);

/// Number of unanswered keepalive probes after which a connection is broken.
const KEEPALIVE_RETRIES: u32 = 3;

/// Age of the last use of a connection from which the connection is checked before its next use. The age is measured
/// from the beginning of that use.
const CHECK_AFTER: Duration = Duration::from_secs(5);

/// Number of uses after which a connection is checked although it was used recently.
const CHECK_INTERVAL: usize = 64;

/// Timeout of the check of a connection.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeouts of a statement and of an idle transaction, so that a crashed or halted node does not hold its locks
/// indefinitely.
const TIMEOUTS: &str = "-c statement_timeout=10s -c idle_in_transaction_session_timeout=20s";

/// Creates a pool of up to `size` connections to the database at `address`, such as
/// `postgres://user:password@host/database`.
///
/// Connections are opened when they are needed, so this does not fail while Postgres is unreachable. A broken
/// connection is replaced when it is next used (`RecyclingMethod::Fast`): a statement fails only if its connection
/// breaks while it runs. If the last use of a connection began more than 5 s ago, and before every 64th use, the
/// connection must respond within 2 s. Otherwise the pool replaces it and all connections that were last used before
/// this check: behind a proxy, connections can stop responding without being closed.
///
/// | wait | limit | setting in the address |
/// |---|---|---|
/// | for a free connection | 5 s | |
/// | for the check of a connection | 2 s | |
/// | for a new connection | 5 s | `connect_timeout` |
/// | for a statement | 10 s | `options`: `-c statement_timeout` |
/// | for the next statement of a transaction | 20 s | `options`: `-c idle_in_transaction_session_timeout` |
/// | for an unreachable server | 25 s | `tcp_user_timeout`, `keepalives_interval`, `keepalives_retries` |
///
/// A node needs 10 to 20 connections in addition to the connections of the board. The total for all nodes must be below
/// the server's `max_connections`.
///
/// # TLS
/// The parameters `sslmode` and `sslrootcert` of the address have the meanings of libpq, except that a failed TLS handshake is
/// always an error:
///
/// | `sslmode` | TLS | certificate |
/// |---|---|---|
/// | `disable` | no | |
/// | `prefer` (default) | if the server offers it | not verified |
/// | `require` | yes | not verified |
/// | `verify-ca` | yes | signed by a trusted root |
/// | `verify-full` | yes | signed by a trusted root, for the host name of the address |
///
/// `sslrootcert=FILE` names a PEM file with the trusted roots. The file may contain the server's own certificate if
/// this certificate signed itself. Default: the roots of the system. With this parameter, `prefer` and `require` verify
/// the certificate as `verify-ca` does. `sslrootcert=system` selects the roots of the system. The mode is
/// then `verify-full`, and any other mode is an error.
///
/// # Errors
/// [`PostgresError`] if `address` is not a URL or is malformed, if the mode is unknown or weaker than the root certificates
/// require, if the root certificates cannot be used, or if `size` is 0. The form `host=localhost user=forum` of libpq is not
/// a URL.
pub fn connect(address: &str, size: usize) -> Result<Pool, PostgresError> {
    if size == 0 {
        return Err(PostgresError::unusable(
            "a pool needs at least one connection",
        ));
    }
    let (address, tls) = TlsMode::take_from(address)?;
    let mut config = config(&address)?;
    config.ssl_mode(tls.negotiation);
    let manager = Manager::from_config(
        config,
        tls.connector,
        ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        },
    );
    let check = Arc::new(ConnectionCheck::default());
    let pool = Pool::builder(manager)
        .max_size(size)
        .pre_recycle(Hook::async_fn(move |client, metrics| {
            let (check, metrics) = (Arc::clone(&check), *metrics);
            Box::pin(async move { check.run(client, metrics).await })
        }))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_TIMEOUT))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .build();
    pool.map_err(PostgresError::unusable)
}

/// Check of a pool's connections before their next use.
#[derive(Debug, Default)]
struct ConnectionCheck {
    /// Time of the last check without a response. Connections that were last used before this time are replaced without
    /// a check, because they are usually broken as well.
    failed_at: Mutex<Option<Instant>>,
}

impl ConnectionCheck {
    /// Fails if the connection does not respond.
    async fn run(&self, client: &ClientWrapper, metrics: Metrics) -> Result<(), HookError> {
        let now = Instant::now();
        let last_use = metrics.recycled.unwrap_or(metrics.created);
        if lock(&self.failed_at).is_some_and(|failed_at| last_use < failed_at) {
            return Err(HookError::message("other connections do not respond"));
        }
        let is_due = metrics.recycle_count % CHECK_INTERVAL == CHECK_INTERVAL - 1;
        if now.saturating_duration_since(last_use) < CHECK_AFTER && !is_due {
            return Ok(());
        }
        let Ok(checked) = timeout(CHECK_TIMEOUT, client.check_connection()).await else {
            *lock(&self.failed_at) = Some(now);
            tracing::warn!(
                "a connection to Postgres does not respond; idle connections are replaced"
            );
            return Err(HookError::message("the connection does not respond"));
        };
        checked.map_err(HookError::Backend)
    }
}

/// Adds the default timeouts to the settings of the address.
fn config(address: &str) -> Result<Config, PostgresError> {
    let mut config: Config = address.parse()?;
    let options = config.get_options().unwrap_or_default();
    let options = format!("{TIMEOUTS} {options}");
    config.options(options).keepalives_idle(TCP_USER_TIMEOUT);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(TCP_USER_TIMEOUT);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(KEEPALIVE_RETRIES);
    }
    if config.get_application_name().is_none() {
        config.application_name("forum-api");
    }
    Ok(config)
}

/// Checks that the database accepts writes: changes the library's table of migrations and rolls back.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, the database is read-only or full, or the library's tables do not exist.
pub async fn check_writable(pool: &Pool) -> Result<(), PostgresError> {
    let mut client = pool.get().await?;
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("UPDATE forum_api_migrations SET step = step")
        .await?;
    Ok(transaction.rollback().await?)
}
