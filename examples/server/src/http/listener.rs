//! Addresses on which the process listens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use forum_api::host::{BoardError, BoardResult};
use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::TcpListener;

use super::client_stream::Timeouts;
use super::connections::{self, Limits};
use super::router::Monitor;
use super::slots::MaxConnections;
use crate::options::AdminOptions;
use crate::shutdown::Shutdown;

/// Limits of a listener for the operator. It has few clients, such as a balancer, and no limit for each of them.
const LIMITS: Limits = Limits {
    max: MaxConnections { all: 64, per_address: 0, trusted_proxies: Vec::new() },
    timeouts: Timeouts { client: Duration::from_secs(30), idle: Duration::from_secs(75) },
};

/// Size in bytes of the send buffer of each connection. Linux doubles it for its own data. Without a size, the kernel
/// holds up to 4 MB for a client that does not read.
const SEND_BUFFER_LEN: usize = 64 * 1024;

/// Listening socket with its address.
#[derive(Debug)]
pub struct Listener {
    pub listener: TcpListener,
    pub address: SocketAddr,
}

impl Listener {
    /// Binds an address. Port 0 picks a free one.
    pub async fn bind(address: SocketAddr) -> BoardResult<Self> {
        let refused = |error| BoardError::internal(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        set_socket_send_buffer_size(&listener, SEND_BUFFER_LEN)
            .map_err(|error| refused(error.into()))?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address })
    }

    /// Binds the address of `--admin-listen`, if there is one.
    pub async fn for_operator(options: AdminOptions) -> BoardResult<Option<Self>> {
        match options.admin_listen {
            Some(address) => Self::bind(address).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the URL without a path, such as `http://127.0.0.1:8080`.
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.address))
    }

    /// Serves the operator's routes until the process stops; without a listener, returns at once.
    pub async fn serve(operator: Option<Self>, monitor: Monitor, shutdown: &Shutdown) {
        if let Some(Self { listener, .. }) = operator {
            connections::serve(listener, monitor.router(), LIMITS, shutdown).await;
        }
    }
}

/// Returns the address at which a process of this machine reaches a listener. An unspecified address such as `0.0.0.0` is
/// not the address of a server: the loopback address is returned instead.
pub fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn an_unspecified_address_is_reached_at_loopback() {
        for (address, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("10.0.0.1:80", "10.0.0.1:80"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ] {
            assert_eq!(reachable(address.parse().unwrap()).to_string(), expected);
        }
    }
}
