//! The service: one call.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tower_service::Service;

use super::context::ApiInner;
use crate::host::BoxError;
use crate::http_util::read_body;
use crate::runtime::BoxFuture;

/// The API over a host's board: a [`Service`] that answers every request below its mount, and never fails.
///
/// It is cheap to clone. Made by [`ForumApi::builder`].
#[derive(Clone)]
pub struct ForumApi(pub(super) Arc<ApiInner>);

impl<B> Service<Request<B>> for ForumApi
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        let (head, body) = request.into_parts();
        Box::pin(async move {
            let body = pin!(read_body(body, inner.settings.body_limit));
            Ok(inner.handle(head, body).await)
        })
    }
}

settings_debug!(ForumApi);
