//! Connections to a receiver: TCP, and TLS above it, raced over the receiver's addresses (RFC 8305).

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

use super::client::Client;
use super::error;
use super::pool::Way;
use crate::webhook::{Target, Unsent};

/// What bytes go through.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// With or without TLS.
pub(super) type Wire = Box<dyn Stream>;

/// The delay between the starts of two attempts: the value that RFC 8305 recommends (section 5).
const STAGGER: Duration = Duration::from_millis(250);

/// Connects to the first of `addresses` with which TCP and TLS succeed. The caller limits the time of the whole race.
pub(super) async fn first(
    target: &Target,
    addresses: &[SocketAddr],
    tls: &TlsConnector,
) -> Result<Client, Unsent> {
    let open = |address| async move { Ok((open(target, address, tls).await?, address)) };
    let (wire, address) = race(addresses, open, || sleep(STAGGER)).await?;
    Client::over(wire, Way::new(target, address)).await
}

/// Races one attempt for each address and drops the others when one succeeds. The next attempt starts when `stagger`
/// has passed since the last start, or at once when an attempt fails. If all fail, the error of the last failure is
/// returned.
async fn race<T, A, S>(
    addresses: &[SocketAddr],
    open: impl Fn(SocketAddr) -> A,
    stagger: impl Fn() -> S,
) -> Result<T, Unsent>
where
    A: Future<Output = Result<T, Unsent>>,
    S: Future<Output = ()>,
{
    let mut waiting = addresses.iter().copied();
    let mut running: Vec<Pin<Box<A>>> = Vec::new();
    let mut failed = error::no_address();
    loop {
        running.extend(waiting.next().map(|address| Box::pin(open(address))));
        if running.is_empty() {
            return Err(failed);
        }
        let mut pause = (waiting.len() > 0).then(|| Box::pin(stagger()));
        let ended = poll_fn(|context| {
            for (index, attempt) in running.iter_mut().enumerate() {
                if let Poll::Ready(ended) = attempt.as_mut().poll(context) {
                    drop(running.swap_remove(index));
                    return Poll::Ready(Some(ended));
                }
            }
            match &mut pause {
                Some(pause) => pause.as_mut().poll(context).map(|()| None),
                None => Poll::Pending,
            }
        });
        match ended.await {
            Some(Ok(opened)) => return Ok(opened),
            Some(Err(unsent)) => failed = unsent,
            None => {}
        }
    }
}

async fn open(target: &Target, address: SocketAddr, tls: &TlsConnector) -> Result<Wire, Unsent> {
    let socket = socket(address).await;
    let socket = socket.map_err(|error| error::no_connection(address, &error))?;
    if !target.is_secure() {
        return Ok(Box::new(socket));
    }
    let stream = tls.connect(server_name(target)?, socket).await;
    let stream = stream.map_err(|error| error::no_tls(&error))?;
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
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(error::no_host),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{STAGGER, race};
    use crate::runtime::{Clock as _, ManualClock, Runtime as _};
    use crate::test_util::ManualRuntime;
    use crate::webhook::Unsent;

    const ROUND_TRIP: Duration = Duration::from_millis(250);

    /// TCP, and TLS 1.2 with a certificate status: four round trips.
    const TLS: Duration = Duration::from_secs(1);

    /// The behaviour of one address: the time until its attempt ends, and whether it succeeds. `None` never ends.
    type Behaviour = Option<(Duration, bool)>;

    /// Races these addresses; returns the outcome, the time it took, and when each attempt started, in milliseconds.
    fn raced(behaviours: &[Behaviour]) -> (Result<usize, Unsent>, i64, Vec<i64>) {
        let clock = Arc::new(ManualClock::default());
        let runtime = ManualRuntime::new(clock.clone());
        let addresses: Vec<_> = (0..behaviours.len())
            .map(|index| SocketAddr::from(([8, 8, 8, 8], u16::try_from(index).unwrap())))
            .collect();
        let starts = Arc::new(Mutex::new(Vec::new()));
        let outcome = Arc::new(Mutex::new(None));
        let work = {
            let (behaviours, runtime, clock) =
                (behaviours.to_vec(), runtime.clone(), clock.clone());
            let (starts, outcome) = (starts.clone(), outcome.clone());
            async move {
                let open = |address: SocketAddr| {
                    starts.lock().unwrap().push(clock.now().as_millis());
                    let index = usize::from(address.port());
                    let (behaviour, runtime) = (behaviours[index], runtime.clone());
                    async move {
                        let Some((time, succeeds)) = behaviour else {
                            return std::future::pending().await;
                        };
                        if !time.is_zero() {
                            runtime.sleep(time).await;
                        }
                        succeeds.then_some(index).ok_or(Unsent(index.to_string()))
                    }
                };
                let ended = race(&addresses, open, || runtime.sleep(STAGGER)).await;
                *outcome.lock().unwrap() = Some((ended, clock.now().as_millis()));
            }
        };
        drop(runtime.detach(Box::pin(work)));
        runtime.pass(Duration::from_secs(5));
        let (ended, at) = outcome
            .lock()
            .unwrap()
            .take()
            .expect("the race ends within 5 s");
        let starts = starts.lock().unwrap().clone();
        (ended, at, starts)
    }

    #[test]
    fn eight_addresses_at_a_round_trip_of_250_ms_are_reached() {
        let (ended, at, starts) = raced(&[Some((TLS, true)); 8]);
        assert_eq!((ended, at), (Ok(0), 1000));
        assert_eq!(starts, [0, 250, 500, 750], "the winner ends the race");
    }

    #[test]
    fn the_last_of_eight_addresses_is_reached_when_the_others_are_silent() {
        let mut behaviours = [None; 8];
        behaviours[7] = Some((TLS, true));
        let (ended, at, starts) = raced(&behaviours);
        assert_eq!((ended, at), (Ok(7), 2750));
        assert_eq!(starts, [0, 250, 500, 750, 1000, 1250, 1500, 1750]);
    }

    #[test]
    fn an_attempt_goes_on_while_the_next_one_runs() {
        let slow = Some((ROUND_TRIP * 8, true));
        let (ended, at, _) = raced(&[slow, None, Some((Duration::from_secs(4), true))]);
        assert_eq!((ended, at), (Ok(0), 2000));
    }

    #[test]
    fn an_address_that_fails_at_once_starts_the_next_one_at_once() {
        let unreachable = Some((Duration::ZERO, false));
        let refused = Some((Duration::from_millis(100), false));
        let (ended, at, starts) = raced(&[unreachable, unreachable, refused, Some((TLS, true))]);
        assert_eq!((ended, at), (Ok(3), 1100));
        assert_eq!(starts, [0, 0, 0, 100]);
    }

    #[test]
    fn when_every_address_fails_the_last_failure_is_reported() {
        let slow = Some((Duration::from_secs(1), false));
        let (ended, at, starts) = raced(&[slow, Some((Duration::ZERO, false)), slow]);
        assert_eq!((ended, at), (Err(Unsent("2".into())), 1250));
        assert_eq!(starts, [0, 250, 250]);
        assert!(raced(&[]).0.is_err());
    }
}
