//! How a service is put together.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use http::{Extensions, Uri};

use super::context::ApiInner;
use super::request_id::RequestIdGenerator;
use super::service::ForumApi;
use super::{ApiSettings, client_ip, openapi};
use crate::environment::Environment;
use crate::host::{Authorizer, Board};
use crate::store::Stores;

/// Puts a [`ForumApi`] together; what is mandatory was said in [`ForumApi::builder`].
pub struct ForumApiBuilder(ApiInner);

impl ForumApi {
    /// A service over a host's board: all that it cannot do without. The rest has a default.
    ///
    /// `authority` and `board` may be one value in two [`Arc`]s. `stores` are where the library keeps what is its own:
    /// [`Stores::in_memory`] forgets tokens when the process ends.
    /// `environment` may be the [`Runtime`](crate::runtime::Runtime) that the host's server runs on.
    pub fn builder(
        authority: Arc<dyn Authorizer>,
        board: Arc<dyn Board>,
        stores: Stores,
        environment: impl Into<Environment>,
    ) -> ForumApiBuilder {
        let environment = environment.into();
        ForumApiBuilder(ApiInner {
            authority,
            board,
            stores,
            request_ids: RequestIdGenerator::new(&*environment.random),
            environment,
            settings: ApiSettings::default(),
            document: bytes::Bytes::new(),
            peer: client_ip::peer_ip,
            original_uri: |_| None,
            warned_no_peer_ip: AtomicBool::new(false),
        })
    }
}

impl ForumApiBuilder {
    /// Takes these settings. Default: [`Settings::default`].
    #[must_use]
    pub fn settings(mut self, settings: ApiSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Where a request's extensions hold the peer's address. Default: an `IpAddr` or a `SocketAddr`.
    ///
    /// Under axum: `.peer(|e| e.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip()))`.
    #[must_use]
    pub fn peer_ip(mut self, peer: fn(&Extensions) -> Option<IpAddr>) -> Self {
        self.0.peer = peer;
        self
    }

    /// Where a request's extensions hold the URI as it was sent, if a router cuts it. Default: nowhere.
    ///
    /// Under axum: `.original_uri(|e| e.get::<OriginalUri>().map(|uri| &uri.0))`.
    #[must_use]
    pub fn original_uri(mut self, original_uri: fn(&Extensions) -> Option<&Uri>) -> Self {
        self.0.original_uri = original_uri;
        self
    }

    /// The service. Its OpenAPI document is rendered now, once.
    #[must_use]
    pub fn build(self) -> ForumApi {
        let mut inner = self.0;
        let mount = inner.settings.base_path.trim_end_matches('/').len();
        inner.settings.base_path.truncate(mount);
        inner.document =
            serde_json::to_vec(&openapi::document(&inner.settings, &inner.environment))
                .unwrap_or_default()
                .into();
        ForumApi(Arc::new(inner))
    }
}

settings_debug!(ForumApiBuilder);
