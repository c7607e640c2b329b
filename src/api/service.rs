//! The tower service and its builder.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::{Extensions, Request, Response, Uri};
use http_body::Body;
use http_body_util::Full;
use tower_service::Service;

use super::context::{ApiInner, RequestIdGenerator};
use super::{ApiSettings, openapi, rate_limit};
use crate::environment::Environment;
use crate::host::{Authorizer, Board, BoxError};
use crate::http_util::{read_body, trim_base_path};
use crate::runtime::BoxFuture;
use crate::store::Stores;

/// The REST API of a board, as a [`Service`].
///
/// Handles every request whose path begins with [`ApiSettings::base_path`], and returns errors as responses, never as
/// `Err`. Cloning is cheap. Created by [`ForumApi::builder`].
#[derive(Clone)]
pub struct ForumApi(Arc<ApiInner>);

/// Builder of a [`ForumApi`].
///
/// Required parts are arguments of [`ForumApi::builder`]; every setting here has a default.
pub struct ForumApiBuilder(ApiInner);

impl ForumApi {
    /// Creates a builder from the required parts.
    ///
    /// - `authorizer` and `board` are the host's traits. One value can implement both: pass two clones of its [`Arc`].
    /// - `stores` keep tokens, rate limits and idempotency records. [`Stores::in_memory`] loses them when the process
    ///   exits.
    /// - `environment` is an [`Environment`], or the [`Runtime`](crate::runtime::Runtime) of the host's server if the
    ///   defaults of the environment fit.
    pub fn builder(
        authorizer: Arc<dyn Authorizer>,
        board: Arc<dyn Board>,
        stores: Stores,
        environment: impl Into<Environment>,
    ) -> ForumApiBuilder {
        let environment = environment.into();
        ForumApiBuilder(ApiInner {
            authorizer,
            board,
            stores,
            request_ids: RequestIdGenerator::new(&*environment.random),
            environment,
            settings: ApiSettings::default(),
            document: Bytes::new(),
            peer_ip: rate_limit::peer_ip,
            original_uri: |_| None,
            warned_no_peer_ip: AtomicBool::new(false),
        })
    }
}

impl ForumApiBuilder {
    /// Replaces all settings. Default: [`ApiSettings::default`].
    #[must_use]
    pub fn settings(mut self, settings: ApiSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Sets the function that finds the peer's IP address in the extensions of a request. Default: an `IpAddr` or a
    /// `SocketAddr` extension.
    ///
    /// With axum: `.peer_ip(|e| e.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip()))`.
    #[must_use]
    pub fn peer_ip(mut self, peer_ip: fn(&Extensions) -> Option<IpAddr>) -> Self {
        self.0.peer_ip = peer_ip;
        self
    }

    /// Sets the function that finds the original URI in the extensions of a request, for routers that remove a path
    /// prefix. Default: the URI of the request is the original one.
    ///
    /// With axum: `.original_uri(|e| e.get::<OriginalUri>().map(|uri| &uri.0))`.
    #[must_use]
    pub fn original_uri(mut self, original_uri: fn(&Extensions) -> Option<&Uri>) -> Self {
        self.0.original_uri = original_uri;
        self
    }

    /// Builds the service and renders its OpenAPI document.
    #[must_use]
    pub fn build(self) -> ForumApi {
        let mut inner = self.0;
        trim_base_path(&mut inner.settings.base_path);
        let document = openapi::document(&inner.settings, &inner.environment);
        inner.document = serde_json::to_vec(&document).unwrap_or_default().into();
        ForumApi(Arc::new(inner))
    }
}

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
settings_debug!(ForumApiBuilder);
