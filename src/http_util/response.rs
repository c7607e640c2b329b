//! Body of the responses of all services.

use std::convert::Infallible;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

#[cfg(feature = "mcp")]
use super::quoted_body::QuotedBody;

/// Body of a response of the API, the control panel or the reference page. Its length is known, and reading it cannot
/// fail.
#[derive(Clone, Debug, Default)]
pub struct ResponseBody(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Full(Bytes),
    #[cfg(feature = "mcp")]
    Quoted(QuotedBody),
}

impl Default for Inner {
    fn default() -> Self {
        Self::Full(Bytes::new())
    }
}

impl ResponseBody {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(Inner::Full(bytes))
    }

    #[cfg(feature = "mcp")]
    pub(crate) fn quoted(body: QuotedBody) -> Self {
        Self(Inner::Quoted(body))
    }

    /// Returns the whole body, for a server whose responses are not those of the crate `http`. Does not return the
    /// frames that were read before.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        match self.0 {
            Inner::Full(bytes) => bytes,
            #[cfg(feature = "mcp")]
            Inner::Quoted(mut body) => {
                let parts: Vec<_> = std::iter::from_fn(|| body.next()).collect();
                parts.concat().into()
            }
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = match &mut self.0 {
            Inner::Full(bytes) => Some(mem::take(bytes)).filter(|bytes| !bytes.is_empty()),
            #[cfg(feature = "mcp")]
            Inner::Quoted(body) => body.next(),
        };
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        let len = match &self.0 {
            Inner::Full(bytes) => bytes.len(),
            #[cfg(feature = "mcp")]
            Inner::Quoted(body) => body.len(),
        };
        SizeHint::with_exact(len as u64)
    }
}
