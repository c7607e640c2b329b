//! Body and future of the responses of all services.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

#[cfg(feature = "mcp")]
use super::quoted_body::QuotedBody;
use crate::runtime::BoxFuture;

/// Body of a response of the API, the control panel or the reference page. Its length is known, and reading it cannot
/// fail.
#[derive(Clone, Debug, Default)]
pub struct ResponseBody(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Full(Full<Bytes>),
    #[cfg(feature = "mcp")]
    Quoted(QuotedBody),
}

impl Default for Inner {
    fn default() -> Self {
        Self::Full(Full::default())
    }
}

impl ResponseBody {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(Inner::Full(Full::new(bytes)))
    }

    #[cfg(feature = "mcp")]
    pub(crate) fn quoted(body: QuotedBody) -> Self {
        Self(Inner::Quoted(body))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Inner::Full(body) => Pin::new(body).poll_frame(context),
            #[cfg(feature = "mcp")]
            Inner::Quoted(body) => Poll::Ready(body.next().map(|part| Ok(Frame::data(part)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Full(body) => body.is_end_stream(),
            #[cfg(feature = "mcp")]
            Inner::Quoted(body) => body.len() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Full(body) => body.size_hint(),
            #[cfg(feature = "mcp")]
            Inner::Quoted(body) => SizeHint::with_exact(body.len() as u64),
        }
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
