//! A connection whose reads are limited, so that a receiver that sends without end is disconnected.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::tls::forward_writes;

/// A TCP connection, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(super) type IoStream = Box<dyn Stream>;

/// Maximum number of bytes that are read for one request: interim responses, the head of the response, and the part of its
/// body that is kept.
const MAX_RESPONSE: usize = 64 * 1024;

/// The bytes that a [`LimitedStream`] may still read.
#[derive(Clone, Debug)]
pub(super) struct ReadLimit(Arc<AtomicUsize>);

impl ReadLimit {
    /// Allows the bytes of another response.
    pub(super) fn reset(&self) {
        self.0.store(MAX_RESPONSE, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) -> io::Result<()> {
        let left =
            self.0.load(Ordering::Relaxed).checked_sub(bytes).ok_or(io::ErrorKind::FileTooLarge)?;
        self.0.store(left, Ordering::Relaxed);
        Ok(())
    }
}

/// Stream whose reads fail with [`io::ErrorKind::FileTooLarge`] beyond its limit.
pub(super) struct LimitedStream {
    stream: IoStream,
    limit: ReadLimit,
}

impl LimitedStream {
    /// Returns the stream and its limit.
    pub(super) fn new(stream: IoStream) -> (Self, ReadLimit) {
        let limit = ReadLimit(Arc::new(AtomicUsize::new(MAX_RESPONSE)));
        let limited = Self { stream, limit: limit.clone() };
        (limited, limit)
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len() - before;
        Poll::Ready(self.limit.take(read))
    }
}

forward_writes!(LimitedStream.stream);
