//! Connections to one of several hosts.

use std::error::Error as _;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use deadpool_postgres::{ConfigConnectImpl, Connect};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Config, Error};

use super::tls::PostgresTls;
use crate::runtime::BoxFuture;

/// Returns a URL for each host of a URL.
pub(super) fn urls_of_hosts(url: &str) -> Vec<String> {
    let scheme = url.find("://").map_or(0, |scheme| scheme + 3);
    let start = url.find('@').map_or(scheme, |at| at + 1);
    let (before, rest) = url.split_at(start);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (hosts, after) = rest.split_at(end);
    hosts.split(',').map(|host| format!("{before}{host}{after}")).collect()
}

/// Connects to the first host that accepts the connection. Begins with the host of the last connection, so that a host
/// that does not respond delays only the first connections.
pub(super) struct Hosts {
    hosts: Vec<Config>,
    connector: ConfigConnectImpl<PostgresTls>,
    /// Position of the host of the last connection.
    last: AtomicUsize,
}

impl Hosts {
    /// Each host has its `connect_timeout` to accept a connection.
    pub(super) fn new(hosts: Vec<Config>, tls: PostgresTls) -> Self {
        Self { hosts, connector: ConfigConnectImpl { tls }, last: AtomicUsize::new(0) }
    }
}

impl Connect for Hosts {
    fn connect(&self, _: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        Box::pin(async move {
            let last = self.last.load(Ordering::Relaxed);
            let hosts = self.hosts.iter().enumerate().cycle().skip(last);
            let mut failed: Option<Error> = None;
            for (number, host) in hosts.take(self.hosts.len()) {
                // The driver's own timeout does not include the handshakes.
                let limit = host.get_connect_timeout().copied().unwrap_or_default();
                match timeout(limit, self.connector.connect(host)).await {
                    Ok(Ok(connected)) => {
                        self.last.store(number, Ordering::Relaxed);
                        return Ok(connected);
                    }
                    // The state of the primary explains more than that a standby refuses writes.
                    Ok(Err(error)) if failed.as_ref().is_none_or(refuses_writes) => {
                        failed = Some(error);
                    }
                    Ok(Err(_)) => {}
                    Err(_) => {}
                }
            }
            match failed {
                Some(error) => Err(error),
                // The timeout of the pool, which is the sum of those of the hosts, ends the wait.
                None => pending().await,
            }
        })
    }
}

/// Returns whether a connection failed because its host is read-only. The driver has no kind of its own for this error.
fn refuses_writes(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::urls_of_hosts;

    #[test]
    fn each_host_has_its_url() {
        for (url, hosts) in [
            ("a://h", &["a://h"][..]),
            ("a://h,i:2?x=1,2", &["a://h?x=1,2", "a://i:2?x=1,2"]),
            ("a://u:p,?/@[::1]:1,i/d", &["a://u:p,?/@[::1]:1/d", "a://u:p,?/@i/d"]),
        ] {
            assert_eq!(urls_of_hosts(url), hosts);
        }
    }
}
