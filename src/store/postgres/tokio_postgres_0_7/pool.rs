//! Connection pool.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deadpool_postgres::{
    Client, ClientWrapper, Hook, HookError, Manager, ManagerConfig, Metrics, Object, Pool,
    RecyclingMethod, Runtime,
};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error};

use super::hosts::{Hosts, urls_of_hosts};
use super::session::{CONNECT_TIMEOUT, begin_session};
use super::tls::{TlsMode, UNENCODED_AT};
use crate::lock::lock;
use crate::store::postgres::PostgresError;

/// Timeout of a new connection to one of several hosts.
const HOST_TIMEOUT: Duration = Duration::from_secs(2);

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

const SOCKET_AND_HOST: &str = "invalid Postgres URL: `host` names the directory of a Unix-domain socket beside a host; name the directory only";

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
/// | for a new connection | 5 s; 2 s for each of several hosts | `connect_timeout`, in seconds for each host |
/// | for the first response of a new connection | 5 s | |
/// | for a statement | 10 s | `options`: `-c statement_timeout` |
/// | for the next statement of a transaction | 20 s | `options`: `-c idle_in_transaction_session_timeout` |
/// | for the result of a read | 15 s | |
/// | for an unreachable server | 25 s | `tcp_user_timeout`, `keepalives_interval`, `keepalives_retries` |
///
/// Each new connection sets the limits of statements and transactions, removes those of locks and idle sessions, and
/// sets the default isolation level to `READ COMMITTED`, so that the defaults of the database and the role have no
/// effect. It is refused if the encoding of the database is not UTF8.
///
/// If no connection is available, or the connection of a read breaks or does not respond, the source of the error is an
/// [`OverloadedError`](crate::host::OverloadedError), and the response is 503 with `retry-after`.
///
/// A node needs 10 to 20 connections in addition to the connections of the board. The total for all nodes must be below
/// the server's `max_connections`.
///
/// # Several hosts
/// An address such as `postgres://user:password@host1:5432,host2:5432/database` names a primary and its standbys.
/// Connections are opened only to a host that accepts writes, as with `target_session_attrs=read-write`: first to the
/// host of the last new connection, then to the others in their order. A connection to a host that no longer accepts
/// writes is closed when a statement fails for that reason ([`close_if_lost`]). If all hosts fail, the error is the first one
/// that does not mean that a host refuses writes. A host that does not respond in time has no error.
///
/// # TLS
/// The parameters `sslmode` and `sslrootcert` of the address have the meanings of libpq, except that a failed TLS
/// handshake is always an error:
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
/// # Unix-domain sockets
/// The addresses `postgres:///database?host=/run/postgresql` and `postgres://user@%2Frun%2Fpostgresql/database` name the
/// directory of a socket. The default user is that of the process. As in libpq, `sslmode` has no effect on such a
/// connection, which does not leave the machine.
///
/// # Errors
/// [`PostgresError`] if `address` is not a URL or is malformed, if the mode is unknown or weaker than the root certificates
/// require, if the root certificates cannot be used, or if `size` is 0. The form `host=localhost user=forum` of libpq is not
/// a URL.
pub fn connect(address: &str, size: usize) -> Result<Pool, PostgresError> {
    if size == 0 {
        return Err(PostgresError::unusable("a pool needs at least one connection"));
    }
    let (address, tls) = TlsMode::take_from(address)?;
    let urls = urls_of_hosts(&address);
    let configs = urls.iter().map(|url| config(url, tls.negotiation, urls.len() > 1));
    let hosts: Vec<_> = configs.collect::<Result<_, _>>().map_err(|error| {
        // What follows an unencoded `@` can be a part of the password, which the driver would show as the name of a parameter.
        let has_second_at = address.bytes().filter(|byte| *byte == b'@').count() > 1;
        if has_second_at { PostgresError::unusable(UNENCODED_AT) } else { error }
    })?;
    let create_timeout = hosts.iter().filter_map(Config::get_connect_timeout).sum();
    let manager = Manager::from_connect(
        // `Hosts` has the settings of each host.
        Config::new(),
        Hosts::new(hosts, tls.connector),
        ManagerConfig { recycling_method: RecyclingMethod::Fast },
    );
    let has_limit = address.contains("statement_timeout");
    let check = Arc::new(ConnectionCheck::default());
    let pool = Pool::builder(manager)
        .max_size(size)
        .post_create(Hook::async_fn(move |client, _| Box::pin(begin_session(client, has_limit))))
        .pre_recycle(Hook::async_fn(move |client, metrics| {
            let check = Arc::clone(&check);
            let metrics = *metrics;
            Box::pin(async move { check.run(client, metrics).await })
        }))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_TIMEOUT))
        .create_timeout(Some(create_timeout))
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

/// Returns the settings of the URL of one host, with the default timeouts. `has_standbys` is true for several hosts.
fn config(url: &str, tls: SslMode, has_standbys: bool) -> Result<Config, PostgresError> {
    let mut config: Config = url.parse()?;
    let is_tcp = |host: &&Host| matches!(host, Host::Tcp(_));
    let tcp_hosts = config.get_hosts().iter().filter(is_tcp).count();
    let has_socket = tcp_hosts < config.get_hosts().len();
    if has_socket && tcp_hosts > 0 {
        return Err(PostgresError::unusable(SOCKET_AND_HOST));
    }
    config.ssl_mode(if has_socket { SslMode::Disable } else { tls });
    if has_standbys {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config.keepalives_idle(TCP_USER_TIMEOUT);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(if has_standbys { HOST_TIMEOUT } else { CONNECT_TIMEOUT });
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

/// Commits a change of a table for which a file of the database grows by a page: the inserted text cannot be compressed.
/// The row has a step that no migration has, and is removed in the same transaction.
const PROBE: &str = "
    INSERT INTO forum_api_migrations (step, name, checksum)
    SELECT -1 - floor(random() * 2000000000)::INTEGER, '', string_agg(md5(random()::TEXT), '') FROM generate_series(1, 256);
    DELETE FROM forum_api_migrations WHERE step < 0";

/// Closes a connection whose statement failed with this code, if the server is shutting down or no longer accepts writes
/// (SQLSTATE class 57P, and 25006). Also closes the idle connections of the pool, so that the next attempt opens a new
/// connection, to the primary. Otherwise the connection returns to its pool.
///
/// If the type of a column changed after the statement was prepared (0A000), all connections of the pool prepare their
/// statements again.
pub fn close_if_lost(client: Client, code: &SqlState) {
    forget_if_outdated(&client, code);
    let is_lost = *code == SqlState::READ_ONLY_SQL_TRANSACTION || code.code().starts_with("57P");
    if is_lost && let Some(pool) = Object::pool(&client) {
        drop(Object::take(client));
        pool.retain(|_, _| false);
    }
}

/// Removes the prepared statements of all connections of the pool after an error with this code, if it means that the type of
/// a result has changed since the statement was prepared. Such a statement would fail until its connection ends.
#[doc(hidden)]
pub fn forget_if_outdated(client: &Client, code: &SqlState) {
    if *code == SqlState::FEATURE_NOT_SUPPORTED
        && let Some(pool) = Object::pool(client)
    {
        pool.manager().statement_caches.clear();
    }
}

/// Checks that the database accepts writes: commits a change of the library's table of migrations that leaves no row, and
/// needs 8 KiB on the disk of the database. A smaller write can succeed on a full disk.
///
/// With synchronous replication, the commit waits for the standbys without a limit. If the future is dropped before, the
/// connection stays occupied. A caller with a time limit awaits the same future again instead of calling this function
/// again.
///
/// # Errors
/// [`PostgresError`] if Postgres is unreachable, the database is read-only or full, or the library's tables do not exist.
pub async fn check_writable(pool: &Pool) -> Result<(), PostgresError> {
    let client = pool.get().await?;
    let changed = client.batch_execute(PROBE).await;
    finish(client, changed)
}

/// Releases the connection of a statement, and returns the result.
pub(super) fn finish<T>(client: Client, result: Result<T, Error>) -> Result<T, PostgresError> {
    result.map_err(|error| {
        if let Some(code) = error.code() {
            close_if_lost(client, code);
        }
        PostgresError::from(error).of_statement()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_replaces_the_default_timeouts_of_a_connection() {
        let seconds = Duration::from_secs;
        for (query, has_standbys, connect, user) in [
            ("", false, 5, 10),
            ("", true, 2, 10),
            ("?connect_timeout=7&tcp_user_timeout=8", true, 7, 8),
        ] {
            let url = format!("postgres://h/d{query}");
            let config = config(&url, SslMode::Require, has_standbys).unwrap();
            assert_eq!(config.get_connect_timeout(), Some(&seconds(connect)), "{url}");
            assert_eq!(config.get_tcp_user_timeout(), Some(&seconds(user)), "{url}");
            assert_eq!(config.get_application_name(), Some("forum-api"));
            assert_eq!(config.get_ssl_mode(), SslMode::Require);
            let session = config.get_target_session_attrs();
            assert_eq!(session == TargetSessionAttrs::ReadWrite, has_standbys, "{url}");
        }
    }
}
