//! A connection that is reset when its client reads too slowly.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// Rate in bytes per second at which a client can read responses of any size: half of a link of 64 kbit/s.
const LEAST_RATE: u32 = 4096;

/// Remaining time for which the server waits for a client to read.
///
/// The time passes only while the server cannot write. Each byte that the client reads adds the time that it takes at
/// [`LEAST_RATE`], so an occasional byte does not keep a connection open.
#[derive(Debug)]
struct Allowance {
    max: Duration,
    left: Duration,
    /// Start of the current wait.
    waits_since: Option<Instant>,
}

impl Allowance {
    fn new(max: Duration) -> Self {
        Self {
            max,
            left: max,
            waits_since: None,
        }
    }

    /// Returns the time at which a wait ends that began at `now` or earlier.
    fn ends_at(&mut self, now: Instant) -> Instant {
        *self.waits_since.get_or_insert(now) + self.left
    }

    /// Ends the current wait, after `bytes` were written.
    fn add(&mut self, bytes: usize, now: Instant) {
        let since = self.waits_since.take();
        let waited = since.map_or(Duration::ZERO, |since| now.duration_since(since));
        let seconds = u64::try_from(bytes).unwrap_or(u64::MAX);
        let earned = Duration::from_secs(seconds) / LEAST_RATE;
        let left = self.left.saturating_sub(waited).saturating_add(earned);
        self.left = left.min(self.max);
    }
}

/// The connection of a client.
#[derive(Debug)]
pub struct ClientStream {
    stream: TcpStream,
    allowance: Allowance,
    /// End of the current wait.
    timer: Option<Pin<Box<Sleep>>>,
}

impl ClientStream {
    /// Creates a connection that is reset if its client reads nothing for `timeout`, or reads at less than
    /// [`LEAST_RATE`] for longer.
    pub fn new(stream: TcpStream, timeout: Duration) -> Self {
        Self {
            stream,
            allowance: Allowance::new(timeout),
            timer: None,
        }
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
                self.allowance.add(bytes, Instant::now());
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let ends_at = self.allowance.ends_at(Instant::now());
                let timer = self
                    .timer
                    .get_or_insert_with(|| Box::pin(sleep_until(ends_at)));
                ready!(timer.as_mut().poll(context));
                // The kernel then discards the bytes that it has not sent. Otherwise it would keep them as long as the
                // client acknowledges packets.
                drop(self.stream.set_zero_linger());
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
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
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    /// Reads `size` bytes in parts of `part` bytes, one each `interval` seconds. Returns the second at which the client
    /// is disconnected; `None` if it reads the whole response.
    fn disconnected_at(size: usize, part: usize, interval: u64) -> Option<u64> {
        let start = Instant::now();
        let mut allowance = Allowance::new(TIMEOUT);
        for number in 0..u64::try_from(size.div_ceil(part)).unwrap() {
            let now = start + Duration::from_secs(number * interval);
            let next = now + Duration::from_secs(interval);
            let ends_at = allowance.ends_at(now);
            if ends_at <= next {
                return Some((ends_at - start).as_secs());
            }
            allowance.add(part, next);
        }
        None
    }

    #[test]
    fn a_client_below_the_least_rate_is_disconnected() {
        let page = 1_100_000;
        for (part, interval, expected) in [
            (1, 30, Some(30)),
            (1, 1, Some(30)),
            (1_500, 9, Some(31)),
            (2_048, 1, Some(59)),
            (4_096, 1, None),
            (8_000, 1, None),
            (40_000, 9, None),
            (200_000, 29, None),
            (200_000, 30, Some(30)),
        ] {
            let actual = disconnected_at(page, part, interval);
            assert_eq!(actual, expected, "{part} bytes each {interval} s");
        }
        assert_eq!(disconnected_at(20_000, 1_000, 1), None, "small responses");
    }

    #[test]
    fn time_between_responses_is_not_limited() {
        let start = Instant::now();
        let mut allowance = Allowance::new(TIMEOUT);
        for hour in 0..100 {
            let now = start + Duration::from_secs(hour * 3600);
            assert_eq!(allowance.ends_at(now), now + allowance.left);
            allowance.add(100, now + Duration::from_millis(10));
        }
        assert!(allowance.left > TIMEOUT / 2);
    }
}
