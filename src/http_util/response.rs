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

use crate::runtime::BoxFuture;

/// Body of a response of the API, the control panel or the reference page. Its length is known, and reading it cannot
/// fail.
#[derive(Clone, Debug, Default)]
pub struct ResponseBody(Full<Bytes>);

impl ResponseBody {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(Full::new(bytes))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
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
