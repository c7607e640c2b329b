//! Connection pool.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::{Config, NoTls};

use super::PostgresError;

/// Limit of the wait for a free connection, and for a new one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long sent data may stay unacknowledged, and a connection idle before a keepalive probe.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits of a statement, and of the wait for the next one of a transaction: a node that is gone or halted does not keep
/// its locks indefinitely.
const TIMEOUTS: &str = "-c statement_timeout=10s -c idle_in_transaction_session_timeout=20s";

/// Returns a pool of up to `size` connections to the database at `address`, as
/// `postgres://user:password@host/database`. Connections are opened when they are first needed, so this does not fail while
/// Postgres is unreachable.
///
/// The wait for a connection is limited to 5 s, a statement to 10 s, and the wait of a transaction for its next statement to
/// 20 s; a server that is gone is noticed within 25 s. Settings in the address take precedence:
/// `connect_timeout`, `tcp_user_timeout`, `keepalives_interval`, `keepalives_retries`, and, in `options`,
/// `-c statement_timeout` and `-c idle_in_transaction_session_timeout`.
///
/// A node needs ten to twenty connections in addition to those of the board; keep all nodes together below the server's
/// `max_connections`. There is no TLS: across a network that you do not control, build the pool yourself with a TLS
/// connector and the settings of this one's source. A broken connection is noticed when it is next taken, and replaced
/// (`RecyclingMethod::Fast`), so a statement fails only if its connection breaks while it runs.
///
/// # Errors
/// When the address is malformed.
pub fn connect(address: &str, size: usize) -> Result<Pool, PostgresError> {
    let manager = Manager::from_config(
        config(address)?,
        NoTls,
        ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        },
    );
    let pool = Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_TIMEOUT))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .build();
    pool.map_err(PostgresError::unusable)
}

/// The settings of the address, and limits for waits that it does not set.
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
        config.keepalives_interval(CONNECT_TIMEOUT);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
    if config.get_application_name().is_none() {
        config.application_name("forum-api");
    }
    Ok(config)
}

/// Checks that the database can be written to: changes the library's table of migrations, and rolls that back.
///
/// # Errors
/// When Postgres cannot be reached, the database is read-only or full, or the library's tables do not exist.
pub async fn check_writable(pool: &Pool) -> Result<(), PostgresError> {
    let mut client = pool.get().await?;
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("UPDATE forum_api_migrations SET step = step")
        .await?;
    Ok(transaction.rollback().await?)
}
