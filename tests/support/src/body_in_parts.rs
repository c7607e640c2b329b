//! A request body that arrives in parts.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use bytes::Bytes;
use hyper::body::{Body, Frame};

/// A body of an unknown length that arrives in parts of equal length.
#[derive(Clone, Debug)]
pub struct BodyInParts(vec::IntoIter<Bytes>);

impl BodyInParts {
    pub fn new(text: &str, part_len: usize) -> Self {
        let parts: Vec<_> = text.as_bytes().chunks(part_len).map(Bytes::copy_from_slice).collect();
        Self(parts.into_iter())
    }
}

impl Body for BodyInParts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.next().map(|part| Ok(Frame::data(part))))
    }
}
