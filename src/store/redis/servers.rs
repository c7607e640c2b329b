//! The Redis servers that a URL names, and connections to them.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, FromRedisValue,
    IntoConnectionInfo as _, RedisConnectionInfo, RedisError, RedisResult, ScriptInvocation,
    TlsCertificates, TlsMode,
};
use tokio_rustls::rustls::crypto::CryptoProvider;

use crate::error::{BackendError, BackendResult};
use crate::tls;

/// Maximum number of charges that a connection to one server buffers.
const PIPELINE_CAPACITY: usize = 1024;
/// Default port of a sentinel, as the suffix of a host.
const SENTINEL_PORT: &str = ":26379";

/// The Redis servers that a URL names.
pub(super) enum Servers {
    Single(Client),
    Sentinels(Sentinels),
    Cluster(Box<ClusterClient>),
}

/// Connection to one server, or to all nodes of a cluster. Clones share it.
#[derive(Clone)]
pub(super) enum Connection {
    Server(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Servers {
    /// Parses a URL. A node of a cluster that does not respond within `timeout` is not waited for.
    pub(super) fn parse(url: &str, timeout: Duration) -> BackendResult<Self> {
        let (url, roots) = tls::take_parameter(url, "sslrootcert");
        let (scheme, rest) = url.split_once("://").ok_or_else(malformed)?;
        let scheme = scheme.to_ascii_lowercase();
        let (hosts, path) = split_path(rest);
        if let Some(scheme) = scheme.strip_suffix("+sentinel") {
            return Sentinels::parse(scheme, hosts, path, roots).map(Self::Sentinels);
        }
        if let Some(scheme) = scheme.strip_suffix("+cluster") {
            let nodes = parse_hosts(scheme, hosts, "", path)?;
            let certificates = certificates(&nodes, roots)?;
            let mut builder =
                ClusterClient::builder(nodes).connection_timeout(timeout).response_timeout(timeout);
            if let Some(certificates) = certificates {
                builder = builder.certs(certificates);
            }
            let client = builder.build().map_err(invalid)?;
            return Ok(Self::Cluster(client.into()));
        }
        let servers = parse_hosts(&scheme, hosts, "", path)?;
        let certificates = certificates(&servers, roots)?;
        let [server] = <[_; 1]>::try_from(servers).map_err(|_| malformed())?;
        let client = match certificates {
            Some(certificates) => Client::build_with_tls(server, certificates),
            None => Client::open(server),
        };
        client.map(Self::Single).map_err(invalid)
    }

    /// Connects to the server, to the master or to the cluster. Successive attempts ask the sentinels in different orders.
    pub(super) async fn connect(&self, attempt: usize) -> RedisResult<Connection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_pipeline_buffer_size(PIPELINE_CAPACITY);
        let server = match self {
            Self::Single(client) => {
                client.get_multiplexed_async_connection_with_config(&config).await
            }
            Self::Sentinels(sentinels) => {
                let mut client = sentinels.client(attempt)?;
                client.get_async_connection_with_config(&config).await
            }
            Self::Cluster(client) => {
                return client.get_async_connection().await.map(Connection::Cluster);
            }
        };
        server.map(Connection::Server)
    }

    /// Returns the maximum duration of a connection attempt, as a multiple of the timeout.
    pub(super) fn connect_timeouts(&self) -> u32 {
        match self {
            Self::Single(_) => 1,
            // One for the sentinels, and one for the master.
            Self::Sentinels(_) => 2,
            // The driver waits for the nodes of the URL, for all nodes, and for their response; then follows a charge.
            Self::Cluster(_) => 4,
        }
    }
}

impl Connection {
    pub(super) async fn invoke<T: FromRedisValue>(
        &mut self,
        script: &ScriptInvocation<'_>,
    ) -> RedisResult<T> {
        match self {
            Self::Server(connection) => script.invoke_async(connection).await,
            Self::Cluster(connection) => script.invoke_async(connection).await,
        }
    }
}

/// Sentinels that know the address of a master.
pub(super) struct Sentinels {
    addresses: Vec<ConnectionAddr>,
    username: Option<String>,
    password: Option<String>,
    master: String,
    /// Credentials and database of the master.
    settings: RedisConnectionInfo,
    certificates: Option<TlsCertificates>,
}

impl Sentinels {
    fn parse(scheme: &str, hosts: &str, path: &str, roots: Option<String>) -> BackendResult<Self> {
        let (path, username) = tls::take_parameter(path, "sentinel_username");
        let (path, password) = tls::take_parameter(&path, "sentinel_password");
        let (master, path) = split_path(path.strip_prefix('/').unwrap_or_default());
        let servers = parse_hosts(scheme, hosts, SENTINEL_PORT, path)?;
        let settings = servers.first().map(ConnectionInfo::redis_settings);
        let sentinels = Self {
            addresses: servers.iter().map(|server| server.addr().clone()).collect(),
            username,
            password,
            master: percent_decode_str(master).decode_utf8_lossy().into(),
            settings: settings.filter(|_| !master.is_empty()).cloned().ok_or_else(malformed)?,
            certificates: certificates(&servers, roots)?,
        };
        sentinels.client(0).map_err(invalid)?;
        Ok(sentinels)
    }

    /// Returns a client that begins with another sentinel at each attempt: it waits for the response of the first one, and
    /// asks three at a time.
    fn client(&self, attempt: usize) -> RedisResult<SentinelClient> {
        let mut addresses = self.addresses.clone();
        let first = attempt % addresses.len().max(1);
        addresses.rotate_left(first);
        let server_type = SentinelServerType::Master;
        let mut builder = SentinelClientBuilder::new(addresses, &self.master, server_type)?
            .set_client_to_redis_db(self.settings.db());
        if let Some(username) = self.settings.username() {
            builder = builder.set_client_to_redis_username(username);
        }
        if let Some(password) = self.settings.password() {
            builder = builder.set_client_to_redis_password(password);
        }
        if let Some(username) = &self.username {
            builder = builder.set_client_to_sentinel_username(username);
        }
        if let Some(password) = &self.password {
            builder = builder.set_client_to_sentinel_password(password);
        }
        if let Some(certificates) = &self.certificates {
            builder = builder
                .set_client_to_redis_tls_mode(TlsMode::Secure)
                .set_client_to_redis_certificates(certificates.clone())
                .set_client_to_sentinel_certificates(certificates.clone());
        }
        builder.build()
    }
}

fn malformed() -> BackendError {
    BackendError::new(
        "expected a Redis URL: redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], \
         redis+sentinel://[[USER]:PASSWORD@]HOST[:PORT],…/MASTER[/DATABASE] or \
         redis+cluster://[[USER]:PASSWORD@]HOST[:PORT],…; rediss instead of redis for TLS",
    )
}

fn invalid(error: RedisError) -> BackendError {
    BackendError::new(error.to_string())
}

/// Splits a URL before its path, query or fragment.
fn split_path(url: &str) -> (&str, &str) {
    url.split_at(url.find(['/', '?', '#']).unwrap_or(url.len()))
}

/// Parses the URLs of hosts that are separated by commas and share credentials, path and query. `default_port` is appended
/// to a host without a port.
fn parse_hosts(
    scheme: &str,
    hosts: &str,
    default_port: &str,
    path: &str,
) -> BackendResult<Vec<ConnectionInfo>> {
    let (credentials, hosts) = hosts.split_at(hosts.rfind('@').map_or(0, |at| at + 1));
    let parse = |host: &str| {
        let after_address = host.rsplit(']').next().unwrap_or_default();
        let port = if after_address.contains(':') { "" } else { default_port };
        let url = format!("{scheme}://{credentials}{host}{port}{path}");
        url.into_connection_info().map_err(|_| malformed())
    };
    hosts.split(',').map(parse).collect()
}

/// Returns the trusted roots of servers with TLS.
fn certificates(
    servers: &[ConnectionInfo],
    roots: Option<String>,
) -> BackendResult<Option<TlsCertificates>> {
    let is_tls = |server: &ConnectionInfo| matches!(server.addr(), ConnectionAddr::TcpTls { .. });
    if !servers.iter().all(is_tls) {
        return match roots {
            Some(_) => {
                Err(BackendError::new("sslrootcert requires TLS: use a URL with the scheme rediss"))
            }
            None => Ok(None),
        };
    }
    // The client uses the default of the process, and panics if several providers are linked and none is the default.
    let provider = CryptoProvider::clone(&tls::provider());
    drop(provider.install_default());
    let root_cert = roots.as_deref().map(tls::read_roots).transpose();
    Ok(Some(TlsCertificates { client_tls: None, root_cert: root_cert.map_err(BackendError::new)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentinel_without_a_port_has_the_port_of_sentinels() {
        let url = "redis+sentinel://:hush@one,two:1,[::1],[::2]:3/board";
        let Ok(Servers::Sentinels(sentinels)) = Servers::parse(url, Duration::from_secs(1)) else {
            panic!("{url}");
        };
        let addresses = sentinels.addresses.iter();
        let ports: Vec<_> = addresses
            .map(|address| match address {
                ConnectionAddr::Tcp(_, port) => *port,
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(ports, [26379, 1, 26379, 3]);
    }
}
