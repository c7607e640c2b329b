//! Body and future of the responses of all services.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame, SizeHint};

#[cfg(feature = "mcp")]
use super::quoted_body::QuotedBody;
use crate::runtime::BoxFuture;

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

/// Future of a response of the API, the control panel or the reference page. Its error type is [`Infallible`].
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(BoxFuture<'static, Response<ResponseBody>>);

impl ResponseFuture {
    pub(crate) fn new(
        response: impl Future<Output = Response<ResponseBody>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(response))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
