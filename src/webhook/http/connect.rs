//! The way to a receiver: TCP, and TLS above it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

use super::client::Client;
use super::fault;
use super::idle::Way;
use crate::webhook::{Target, Unsent};

/// What bytes go through.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// With or without TLS.
pub(super) type Wire = Box<dyn Stream>;

/// A connection to the first of `addresses` that takes one. Each has an equal share of the time, so that one that is
/// silent does not keep the others from being tried.
pub(super) async fn first(
    target: &Target,
    addresses: &[SocketAddr],
    tls: &TlsConnector,
    within: Duration,
) -> Result<Client, Unsent> {
    let share = within / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut failed = fault::late("connection", within);
    for address in addresses {
        match timeout(share, open(target, *address, tls)).await {
            Ok(Ok(wire)) => return Client::over(wire, Way::new(target, *address)).await,
            Ok(Err(unsent)) => failed = unsent,
            Err(_) => failed = fault::silent(*address, share),
        }
    }
    Err(failed)
}

async fn open(target: &Target, address: SocketAddr, tls: &TlsConnector) -> Result<Wire, Unsent> {
    let socket = socket(address).await;
    let socket = socket.map_err(|error| fault::no_connection(address, &error))?;
    if !target.is_secure() {
        return Ok(Box::new(socket));
    }
    let stream = tls.connect(server_name(target)?, socket).await;
    let stream = stream.map_err(|error| fault::no_tls(&error))?;
    Ok(Box::new(stream))
}

/// A socket whose other end is `address` and nobody else.
async fn socket(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let same = socket.peer_addr()? == address;
    same.then_some(socket)
        .ok_or_else(|| io::ErrorKind::ConnectionAborted.into())
}

/// Whose certificate the receiver is to show.
fn server_name(target: &Target) -> Result<ServerName<'static>, Unsent> {
    match target.host() {
        Host::Ipv4(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(std::net::IpAddr::from(*address))),
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(fault::no_host),
    }
}
