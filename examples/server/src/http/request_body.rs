//! Request bodies whose unread rest is discarded before the response is sent.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::timeout;

/// Maximum number of discarded bytes.
const MAX_DISCARDED_LEN: usize = 64 * 1024;

/// Maximum number of parts of a body that are discarded. A part of one byte takes as much work as a long one.
const MAX_DISCARDED_PARTS: usize = 1024;

/// Timeout of the discarded bytes.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// A request body. It stays readable after the service drops its clone.
#[derive(Clone, Debug)]
pub struct RequestBody(Arc<Mutex<Reading>>);

#[derive(Debug)]
struct Reading {
    body: Incoming,
    /// `true` if the whole body was read, `false` after an error; `None` before the end.
    ended: Option<bool>,
}

impl RequestBody {
    pub fn new(body: Incoming) -> Self {
        Self(Arc::new(Mutex::new(Reading { body, ended: None })))
    }

    /// Reads and discards the bytes that the service did not read, within [`MAX_DISCARDED_LEN`],
    /// [`MAX_DISCARDED_PARTS`] and [`DISCARD_TIMEOUT`].
    pub async fn discard(&self) {
        if self.size_hint().lower() > MAX_DISCARDED_LEN as u64 || self.is_complete() {
            return;
        }
        let discard = read_body(self.clone(), MAX_DISCARDED_LEN, MAX_DISCARDED_PARTS, drop);
        let _ = timeout(DISCARD_TIMEOUT, discard).await;
    }

    /// Returns whether the whole body was read, so that the connection can be used for another request.
    pub fn is_complete(&self) -> bool {
        let reading = self.reading();
        reading.ended.unwrap_or_else(|| reading.body.is_end_stream())
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes the parts of a body to `read`. Returns `false` if the body has more than `max_len` bytes or `max_parts` parts, or
/// does not arrive completely.
pub async fn read_body(
    mut body: impl Body<Data = Bytes> + Unpin,
    max_len: usize,
    max_parts: usize,
    mut read: impl FnMut(Bytes),
) -> bool {
    let mut len = 0;
    for _ in 0..=max_parts {
        let Some(frame) = body.frame().await else {
            return true;
        };
        let Ok(frame) = frame else {
            return false;
        };
        let part = frame.into_data().unwrap_or_default();
        len += part.len();
        if len > max_len {
            return false;
        }
        read(part);
    }
    false
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let mut reading = self.reading();
        if reading.ended.is_some() {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut reading.body).poll_frame(context);
        match &polled {
            Poll::Ready(None) => reading.ended = Some(true),
            Poll::Ready(Some(Err(_))) => reading.ended = Some(false),
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        let reading = self.reading();
        reading.ended.is_some() || reading.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.reading().body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::{Empty, StreamBody};
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper::{HeaderMap, Request, Response};
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_body_has_at_most_its_limits_of_bytes_and_parts() {
        for (parts, max_len, max_parts, expected) in [
            (&["ab", "", "c"][..], 3, 3, true),
            (&["ab", "", "c"], 2, 3, false),
            (&["ab", "", "c"], 3, 2, false),
            (&[], 0, 0, true),
        ] {
            let frames =
                parts.iter().map(|part| Ok::<_, Infallible>(Frame::data(Bytes::from(*part))));
            let mut text = Vec::new();
            let body = StreamBody::new(futures_util::stream::iter(frames));
            let is_read = read_body(body, max_len, max_parts, |part| text.extend(part)).await;
            assert_eq!(is_read, expected, "{parts:?}, {max_len} bytes, {max_parts} parts");
            assert!(!is_read || text == parts.concat().as_bytes());
        }
    }

    #[tokio::test]
    async fn trailers_are_a_part_without_bytes() {
        let frames = [Frame::data(Bytes::from("a")), Frame::trailers(HeaderMap::new())];
        let body = StreamBody::new(futures_util::stream::iter(frames.map(Ok::<_, Infallible>)));
        let mut text = Vec::new();
        assert!(read_body(body, 1, 2, |part| text.extend(part)).await);
        assert_eq!(text, b"a");
    }

    #[tokio::test(start_paused = true)]
    async fn the_rest_of_a_body_is_awaited_for_a_second() {
        let (mut client, server) = duplex(1024);
        let discard = async |request: Request<Incoming>| {
            let body = RequestBody::new(request.into_body());
            body.discard().await;
            assert!(!body.is_complete());
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        };
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(server), service_fn(discard));
        let start = Instant::now();
        let exchange = async move {
            client
                .write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{")
                .await
                .unwrap();
            let mut response = [0; 12];
            client.read_exact(&mut response).await.unwrap();
            assert_eq!(response, *b"HTTP/1.1 200");
            start.elapsed()
        };
        let (_, elapsed) = tokio::join!(connection, exchange);
        assert_eq!(elapsed.as_secs(), 1);
    }
}
