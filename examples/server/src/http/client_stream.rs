//! A connection that ends when its client reads or sends too slowly, or sends nothing.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// Lowest rate in bytes per second at which a client may read a response: twice the rate of a link of 64 kbit/s.
const LEAST_RATE: u32 = 16 * 1024;

/// Maximum number of bytes of an unread request body that are discarded before the connection is closed: twice the
/// longest body that a service reads.
const MAX_LINGER_LEN: usize = 2 * 1024 * 1024;

/// Time for which an unread request body is discarded before the connection is closed.
const LINGER_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Time in which a client sends a request head, unless its beginning arrives with the previous request; also the time
    /// after which a client that reads nothing of its response is disconnected.
    pub client: Duration,
    /// Time for which a connection stays open between two requests.
    pub idle: Duration,
}

/// The current request and response of a connection. The service describes them, and the stream limits their time.
#[derive(Clone, Debug)]
pub struct CurrentExchange(Arc<Mutex<Progress>>);

#[derive(Debug)]
struct Progress {
    timeouts: Timeouts,
    request: RequestPhase,
    /// Start of the response; `None` before the first one.
    begun: Option<Instant>,
    /// Size in bytes; a lower bound if the size is unknown.
    len: u64,
    written: u64,
    /// Start of the current wait for the client.
    waits_since: Option<Instant>,
    /// `true` if the client may be sending the body of its request.
    has_unread_body: bool,
}

/// What the connection reads next.
#[derive(Clone, Copy, Debug)]
enum RequestPhase {
    /// The rest of a head. The connection was opened, or the first byte arrived, at `since`.
    Head { since: Instant },
    /// The body of the request that the service handles.
    Body,
    /// The next request. The connection was last used at `since`.
    Idle { since: Instant },
}

impl CurrentExchange {
    /// Creates the state of a new connection. A client may read nothing for at most [`Timeouts::client`]. For a whole
    /// response it has this time and the time that the response takes at [`LEAST_RATE`].
    pub fn new(timeouts: Timeouts) -> Self {
        Self(Arc::new(Mutex::new(Progress {
            timeouts,
            request: RequestPhase::Head { since: Instant::now() },
            begun: None,
            len: 0,
            written: 0,
            waits_since: None,
            has_unread_body: false,
        })))
    }

    /// Begins a request, whose head is complete.
    pub fn begin_request(&self) {
        self.with(|progress| progress.request = RequestPhase::Body);
    }

    /// Begins a response of `len` bytes. With `has_unread_body` the client may still be sending the body of its
    /// request. The connection then discards this body after the response and before it closes, so that the client can
    /// read the response.
    pub fn begin_response(&self, len: u64, has_unread_body: bool) {
        self.with(|progress| {
            let now = Instant::now();
            progress.request = RequestPhase::Idle { since: now };
            progress.begun = Some(now);
            progress.len = len;
            progress.written = 0;
            progress.has_unread_body = has_unread_body;
        });
    }

    /// Returns whether the connection has had a response.
    pub fn has_responded(&self) -> bool {
        self.with(|progress| progress.begun.is_some())
    }

    fn with<T>(&self, change: impl FnOnce(&mut Progress) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Progress {
    /// Returns the time at which a wait ends that began at `now` or earlier.
    fn ends_at(&mut self, now: Instant) -> Instant {
        let waits_since = *self.waits_since.get_or_insert(now);
        let time = Duration::from_secs(self.len.max(self.written)) / LEAST_RATE;
        let begun = self.begun.unwrap_or(now);
        (begun + time).min(waits_since) + self.timeouts.client
    }

    /// Returns the time at which the connection ends unless bytes arrive; `None` while a request is handled, and while
    /// the client is to read a response.
    fn read_ends_at(&self) -> Option<Instant> {
        match self.request {
            RequestPhase::Head { since } => Some(since + self.timeouts.client),
            RequestPhase::Idle { since } if self.waits_since.is_none() => {
                Some(since + self.timeouts.idle)
            }
            RequestPhase::Idle { .. } | RequestPhase::Body => None,
        }
    }

    /// Records that bytes of the client arrived.
    fn receive(&mut self) {
        if matches!(self.request, RequestPhase::Idle { .. }) {
            self.request = RequestPhase::Head { since: Instant::now() };
        }
    }

    /// Ends the current wait, after `bytes` were written.
    fn add(&mut self, bytes: usize) {
        self.waits_since = None;
        if let RequestPhase::Idle { since } = &mut self.request {
            *since = Instant::now();
        }
        self.written += u64::try_from(bytes).unwrap_or(u64::MAX);
    }
}

/// The connection of a client.
#[derive(Debug)]
pub struct ClientStream {
    stream: TcpStream,
    exchange: CurrentExchange,
    /// End of the current wait for the client to read.
    timer: Option<Pin<Box<Sleep>>>,
    /// End of the last wait for the client to send.
    read_timer: Option<Pin<Box<Sleep>>>,
    /// Number of bytes that were discarded so far.
    discarded: usize,
}

impl ClientStream {
    /// Creates a connection that ends if its client exceeds a time limit of `exchange`.
    pub fn new(stream: TcpStream, exchange: CurrentExchange) -> Self {
        Self { stream, exchange, timer: None, read_timer: None, discarded: 0 }
    }

    /// Returns an error when the time of a read without bytes has ended.
    fn limit_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(ends_at) = self.exchange.with(|progress| progress.read_ends_at()) else {
            return Poll::Pending;
        };
        let timer = self.read_timer.get_or_insert_with(|| Box::pin(sleep_until(ends_at)));
        if timer.deadline() != ends_at {
            timer.as_mut().reset(ends_at);
        }
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Limits the time of a write that returned `written`.
    fn limit(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.timer = None;
                self.exchange.with(|progress| progress.add(bytes));
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let now = Instant::now();
                let ends_at = self.exchange.with(|progress| progress.ends_at(now));
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(ends_at)));
                ready!(timer.as_mut().poll(context));
                // The kernel then discards the bytes that it has not sent. Otherwise it would keep them as long as the
                // client acknowledges packets.
                drop(self.stream.set_zero_linger());
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }

    /// Reads and discards what the client sends, up to [`MAX_LINGER_LEN`] and [`LINGER_TIMEOUT`].
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let end = || Box::pin(sleep_until(Instant::now() + LINGER_TIMEOUT));
        let timer = self.timer.get_or_insert_with(end).as_mut();
        if timer.poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut bytes = [0; 8 * 1024];
        while self.discarded < MAX_LINGER_LEN {
            let mut buffer = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                break;
            }
            self.discarded += buffer.filled().len();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            return self.limit_read(context);
        }
        if buffer.filled().len() > before {
            self.exchange.with(Progress::receive);
        }
        read
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limit(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.limit(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        // A connection that is closed with unread bytes is reset, and the client can lose the response.
        if self.exchange.with(|progress| progress.has_unread_body) {
            return self.poll_linger(context);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);
    const TIMEOUTS: Timeouts = Timeouts { client: TIMEOUT, idle: Duration::from_secs(75) };

    /// Reads a response of `len` bytes in parts of `part` bytes, one each `interval` seconds. Returns the second at
    /// which the client is disconnected; `None` if it reads the whole response.
    fn disconnected_at(len: u64, part: usize, interval: u64, is_known: bool) -> Option<u64> {
        let start = Instant::now();
        let exchange = CurrentExchange::new(TIMEOUTS);
        exchange.begin_response(if is_known { len } else { 0 }, false);
        let step = Duration::from_secs(interval);
        exchange.with(|progress| {
            progress.begun = Some(start);
            let mut now = start;
            while progress.written < len {
                let ends_at = progress.ends_at(now);
                now += step;
                if ends_at <= now {
                    return Some((ends_at - start).as_secs());
                }
                progress.add(part);
            }
            None
        })
    }

    #[test]
    fn a_client_that_takes_too_long_for_a_response_is_disconnected() {
        // Its total time is 30 s and 64 s.
        let page = 1 << 20;
        for (part, interval, known, unknown) in [
            (1, 30, Some(30), Some(30)),
            (1, 1, Some(94), Some(30)),
            (8_192, 1, Some(94), Some(59)),
            (11_000, 1, Some(94), Some(89)),
            (11_300, 1, None, None),
            (16_384, 1, None, None),
            (340_000, 29, Some(94), Some(50)),
            (400_000, 29, None, Some(54)),
            (400_000, 30, Some(30), Some(30)),
        ] {
            for (is_known, expected) in [(true, known), (false, unknown)] {
                let actual = disconnected_at(page, part, interval, is_known);
                assert_eq!(actual, expected, "{part} bytes each {interval} s, {is_known}");
            }
        }
        assert_eq!(disconnected_at(20_000, 1_000, 1, true), None, "small");
    }

    #[test]
    fn time_between_responses_is_not_limited() {
        let exchange = CurrentExchange::new(TIMEOUTS);
        let later = Instant::now() + Duration::from_secs(3600);
        exchange.with(|progress| {
            progress.begun = Some(later);
            assert_eq!(progress.ends_at(later), later + TIMEOUT);
        });
    }

    #[test]
    fn a_response_has_no_time_for_the_bytes_of_an_earlier_one() {
        let exchange = CurrentExchange::new(TIMEOUTS);
        exchange.begin_response(1 << 30, false);
        exchange.with(|progress| progress.add(1 << 30));
        exchange.begin_response(0, false);
        exchange.with(|progress| {
            let later = Instant::now() + Duration::from_secs(3600);
            let begun = progress.begun.unwrap();
            assert_eq!(progress.ends_at(later), begun + TIMEOUT);
        });
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_less_time_than_the_pause_before_it() {
        let start = Instant::now();
        let exchange = CurrentExchange::new(TIMEOUTS);
        let ends_in = || {
            let ends_at = exchange.with(|progress| progress.read_ends_at());
            ends_at.map(|ends_at| (ends_at - start).as_secs())
        };
        let second = || advance(Duration::from_secs(1));
        second().await;
        exchange.with(Progress::receive);
        assert_eq!(ends_in(), Some(30), "the first head, since the connection was opened");
        exchange.begin_request();
        assert_eq!(ends_in(), None, "a body");
        exchange.begin_response(2, false);
        assert_eq!(ends_in(), Some(76), "after the response");
        second().await;
        exchange.with(|progress| progress.waits_since = Some(start));
        assert_eq!(ends_in(), None, "the client reads the response");
        exchange.with(|progress| progress.add(2));
        assert_eq!(ends_in(), Some(77), "after the end of the response");
        second().await;
        exchange.with(Progress::receive);
        second().await;
        exchange.with(Progress::receive);
        assert_eq!(ends_in(), Some(33), "the second head, since its first byte");
    }
}
