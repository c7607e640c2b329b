//! New connections to a receiver: TCP and TLS, raced over the addresses of the receiver (RFC 8305).

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

use super::connection::{Connection, PoolKey};
use super::limited_stream::IoStream;
use crate::error::BoxError;
use crate::tls;
use crate::webhook::{EndpointUrl, TransportError};

pub(super) type Result<T, E = TransportError> = std::result::Result<T, E>;

/// Delay between the starts of two connection attempts, as RFC 8305 recommends (section 5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Connects to the first of `addresses` for which TCP and TLS succeed. The caller limits the time of the whole race.
pub(super) async fn connect(
    target: &EndpointUrl,
    addresses: &[SocketAddr],
    tls: &TlsConnector,
) -> Result<Connection> {
    let tls = if target.is_secure() { Some((tls.clone(), server_name(target)?)) } else { None };
    let (stream, address) = race(addresses, |address| open(address, tls.clone())).await?;
    Connection::handshake(stream, PoolKey::new(target, address)).await
}

/// Races one attempt for each address and drops the others when one succeeds. The next attempt starts when [`ATTEMPT_DELAY`]
/// has passed since the last start, or at once when an attempt fails. If all fail, the error of the last failure is
/// returned.
async fn race<T, A>(addresses: &[SocketAddr], open: impl Fn(SocketAddr) -> A) -> Result<T>
where
    T: Send + 'static,
    A: Future<Output = Result<T>> + Send + 'static,
{
    let mut remaining = addresses.iter();
    let mut running = JoinSet::new();
    let mut last_error = TransportError::new("the host name has no addresses");
    loop {
        if let Some(address) = remaining.next() {
            running.spawn(open(*address));
        }
        let limit = if remaining.len() > 0 { ATTEMPT_DELAY } else { Duration::MAX };
        match timeout(limit, running.join_next()).await {
            Ok(None) => return Err(last_error),
            Ok(Some(Ok(Ok(opened)))) => return Ok(opened),
            Ok(Some(Ok(Err(error)))) => last_error = error,
            Ok(Some(Err(error))) => last_error = TransportError::new(error.to_string()),
            Err(_) => {}
        }
    }
}

async fn open(
    address: SocketAddr,
    tls: Option<(TlsConnector, ServerName<'static>)>,
) -> Result<(IoStream, SocketAddr)> {
    let socket = open_socket(address).await.map_err(|error| connect_error(address, &error))?;
    let stream: IoStream = match tls {
        None => Box::new(socket),
        Some((tls, name)) => {
            let stream = tls.connect(name, socket).await;
            Box::new(stream.map_err(|error| TransportError::new(tls::handshake_error(&error)))?)
        }
    };
    Ok((stream, address))
}

/// Opens a socket, and checks that its peer is exactly `address`.
async fn open_socket(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    if socket.peer_addr()? != address {
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    Ok(socket)
}

/// Returns the name for which the receiver's certificate must be valid.
fn server_name(target: &EndpointUrl) -> Result<ServerName<'static>> {
    match target.host() {
        Host::Ipv4(address) => Ok(ServerName::from(IpAddr::from(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(IpAddr::from(*address))),
        Host::Domain(name) => ServerName::try_from(name.clone())
            .map_err(|_| TransportError::new("the host name is invalid")),
    }
}

fn connect_error(address: SocketAddr, error: &io::Error) -> TransportError {
    TransportError::new(format!("cannot connect to {address}: {}", error.kind()))
}

/// Returns a connector that trusts the system's root certificates and those in `pem`.
pub(super) fn tls_connector(pem: &str) -> Result<TlsConnector, BoxError> {
    let mut roots = tls::system_roots();
    if !pem.is_empty() {
        tls::add_roots(&mut roots, pem.as_bytes())?;
    }
    let mut config = tls::client_config()?.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::{Arc, Mutex};

    use tokio::time::{Duration, Instant, sleep};

    use super::race;
    use crate::webhook::TransportError;

    /// An attempt that does not end within the race.
    const SILENT: (u64, bool) = (10_000, false);

    /// An attempt that succeeds: TCP, and TLS 1.2 with a certificate status, with a round-trip time of almost 250 ms.
    const REACHED: (u64, bool) = (990, true);

    /// For each address the duration of its attempt in milliseconds and its success; the result and the duration of the
    /// race; the start times of the attempts.
    type Race<'a> = (&'a [(u64, bool)], Result<usize, usize>, u128, &'a [u128]);

    #[rustfmt::skip]
    const RACES: &[Race] = &[
        (&[REACHED; 8], Ok(0), 990, &[0, 250, 500, 750]),
        (&[SILENT, SILENT, SILENT, REACHED], Ok(3), 1740, &[0, 250, 500, 750]),
        // An attempt continues while the next one runs.
        (&[(2000, true), SILENT, (4000, true)], Ok(0), 2000, &[0, 250, 500]),
        // A failed attempt starts the next attempt at once.
        (&[(0, false), (0, false), (100, false), REACHED], Ok(3), 1090, &[0, 0, 0, 100]),
        (&[(1000, false), (0, false), (1000, false)], Err(2), 1250, &[0, 250, 250]),
    ];

    #[tokio::test(start_paused = true)]
    async fn addresses_are_raced() {
        for (behaviours, expected, took, starts) in RACES {
            let began = Instant::now();
            let started = Arc::new(Mutex::new(Vec::new()));
            let ports = 0..u16::try_from(behaviours.len()).unwrap();
            let addresses: Vec<_> = ports.map(|port| SocketAddr::from(([8; 4], port))).collect();
            let ended = race(&addresses, |address| {
                let index = usize::from(address.port());
                let (millis, succeeds) = behaviours[index];
                let started = started.clone();
                async move {
                    started.lock().unwrap().push(began.elapsed().as_millis());
                    if millis > 0 {
                        sleep(Duration::from_millis(millis)).await;
                    }
                    if succeeds { Ok(index) } else { Err(TransportError::new(index.to_string())) }
                }
            })
            .await
            .map_err(|index| index.to_string().parse().unwrap());
            assert_eq!((ended, began.elapsed().as_millis()), (*expected, *took));
            assert_eq!(*started.lock().unwrap(), *starts, "{behaviours:?}");
        }
        let none = race(&[], |_| async { Ok(()) }).await;
        let error = TransportError::new("the host name has no addresses");
        assert_eq!(none, Err(error));
    }
}
