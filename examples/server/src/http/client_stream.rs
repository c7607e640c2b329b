//! A connection that is reset when its client reads too slowly.

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

/// The current response of a connection. The service describes it, and the stream limits its time.
#[derive(Clone, Debug)]
pub struct CurrentResponse(Arc<Mutex<Progress>>);

#[derive(Debug)]
struct Progress {
    timeout: Duration,
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

impl CurrentResponse {
    /// Creates the state of a connection. A client may read nothing for at most `timeout`. For a whole response it has
    /// this time and the time that the response takes at [`LEAST_RATE`].
    pub fn new(timeout: Duration) -> Self {
        Self(Arc::new(Mutex::new(Progress {
            timeout,
            begun: None,
            len: 0,
            written: 0,
            waits_since: None,
            has_unread_body: false,
        })))
    }

    /// Begins a response of `len` bytes. With `has_unread_body` the client may still be sending the body of its
    /// request. The connection then discards this body after the response and before it closes, so that the client can
    /// read the response.
    pub fn begin(&self, len: u64, has_unread_body: bool) {
        self.with(|progress| {
            progress.begun = Some(Instant::now());
            progress.len = len;
            progress.written = 0;
            progress.has_unread_body = has_unread_body;
        });
    }

    /// Returns whether the connection has had a response.
    pub fn has_begun(&self) -> bool {
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
        (begun + time).min(waits_since) + self.timeout
    }

    /// Ends the current wait, after `bytes` were written.
    fn add(&mut self, bytes: usize) {
        self.waits_since = None;
        self.written += u64::try_from(bytes).unwrap_or(u64::MAX);
    }
}

/// The connection of a client.
#[derive(Debug)]
pub struct ClientStream {
    stream: TcpStream,
    response: CurrentResponse,
    /// End of the current wait.
    timer: Option<Pin<Box<Sleep>>>,
    /// Number of bytes that were discarded so far.
    discarded: usize,
}

impl ClientStream {
    /// Creates a connection that is reset if its client exceeds a time limit of `response`.
    pub fn new(stream: TcpStream, response: CurrentResponse) -> Self {
        Self { stream, response, timer: None, discarded: 0 }
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
                self.response.with(|progress| progress.add(bytes));
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let now = Instant::now();
                let ends_at = self.response.with(|progress| progress.ends_at(now));
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
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        // A connection that is closed with unread bytes is reset, and the client can lose the response.
        if self.response.with(|progress| progress.has_unread_body) {
            return self.poll_linger(context);
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    /// Reads a response of `len` bytes in parts of `part` bytes, one each `interval` seconds. Returns the second at
    /// which the client is disconnected; `None` if it reads the whole response.
    fn disconnected_at(len: u64, part: usize, interval: u64, is_known: bool) -> Option<u64> {
        let start = Instant::now();
        let response = CurrentResponse::new(TIMEOUT);
        response.begin(if is_known { len } else { 0 }, false);
        let step = Duration::from_secs(interval);
        response.with(|progress| {
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
        let response = CurrentResponse::new(TIMEOUT);
        let later = Instant::now() + Duration::from_secs(3600);
        response.with(|progress| {
            progress.begun = Some(later);
            assert_eq!(progress.ends_at(later), later + TIMEOUT);
        });
    }
}
