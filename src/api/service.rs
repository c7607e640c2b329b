//! The tower service.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http::{Request, Response};
use http_body::Body;
use serde_json::Value;
use tower_service::Service;

use super::context::ApiInner;
use super::openapi;
use crate::host::BoxError;
use crate::http_util::{ResponseBody, ResponseFuture, read_body};

/// The REST API of a board, as a [`Service`].
///
/// Handles every request whose path begins with [`ApiSettings::base_path`](crate::ApiSettings::base_path), and returns
/// errors as responses, never as `Err`. Cloning is cheap. Created by [`ForumApi::builder`].
#[derive(Clone)]
pub struct ForumApi(pub(super) Arc<ApiInner>);

impl ForumApi {
    /// Returns the OpenAPI document that the service serves at `/openapi.json`.
    #[must_use]
    pub fn openapi(&self) -> Value {
        openapi::document(&self.0.settings, &self.0.environment)
    }
}

impl<B> Service<Request<B>> for ForumApi
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        let (head, body) = request.into_parts();
        ResponseFuture::new(async move {
            let body = pin!(read_body(body, inner.settings.body_limit));
            inner.handle(head, body).await
        })
    }
}

settings_debug!(ForumApi, 0.settings);
