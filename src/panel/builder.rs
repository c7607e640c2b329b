//! The panel, its settings and its builder.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Extensions, Uri};

use ipnet::IpNet;

use crate::api;
use crate::environment::Environment;
use crate::host::AdminAuth;
use crate::http_util::{OriginalUri, trim_base_path};
use crate::store::Stores;
use crate::webhook_admin::WebhookAdmin;

/// Settings of a [`Panel`].
#[derive(Clone, Debug)]
pub struct PanelSettings {
    /// The path below which the panel is served. Default: `/panel`.
    pub base_path: String,
    /// Largest body of a form, in bytes. Default: 1 MiB.
    pub body_limit: usize,
    /// Timeout of a request. Default: 30 s. A change that has begun completes even after the timeout.
    pub request_timeout: Duration,
    /// Networks of the proxies whose `x-forwarded-for` header is trusted for the addresses in the audit log. Default: none.
    pub trusted_proxies: Vec<IpNet>,
}

impl Default for PanelSettings {
    fn default() -> Self {
        Self {
            base_path: "/panel".into(),
            body_limit: 1 << 20,
            request_timeout: Duration::from_secs(30),
            trusted_proxies: Vec::new(),
        }
    }
}

/// The control panel: a [`tower_service::Service`] for all requests below its base path. Its error type is
/// [`Infallible`](std::convert::Infallible).
///
/// Cloning is cheap. [`Panel::builder`] builds it.
#[derive(Clone)]
pub struct Panel(pub(super) Arc<PanelInner>);

pub(super) struct PanelInner {
    pub(super) admin_auth: Arc<dyn AdminAuth>,
    pub(super) stores: Stores,
    pub(super) webhook_admin: WebhookAdmin,
    pub(super) environment: Environment,
    pub(super) settings: PanelSettings,
    pub(super) original_uri: OriginalUri,
    pub(super) peer_ip: fn(&Extensions) -> Option<IpAddr>,
}

/// Builder of a [`Panel`]. Required parts are arguments of [`Panel::builder`]; everything else has a default.
pub struct PanelBuilder(PanelInner);

impl Panel {
    /// Returns a builder.
    ///
    /// `admin_auth` authenticates administrators. Pass the same `stores` as to the API: the panel manages the tokens,
    /// and records password attempts in the rate limit store and submitted forms in the idempotency store. Create
    /// `webhook_admin` with the same webhook stores as the worker. `environment` can be the
    /// [`Runtime`](crate::runtime::Runtime) of the host's server.
    pub fn builder(
        admin_auth: Arc<dyn AdminAuth>,
        stores: Stores,
        webhook_admin: WebhookAdmin,
        environment: impl Into<Environment>,
    ) -> PanelBuilder {
        PanelBuilder(PanelInner {
            admin_auth,
            stores,
            webhook_admin,
            environment: environment.into(),
            settings: PanelSettings::default(),
            original_uri: |_| None,
            peer_ip: api::peer_ip,
        })
    }
}

impl PanelBuilder {
    /// Sets the settings. Default: [`PanelSettings::default`].
    #[must_use]
    pub fn settings(mut self, settings: PanelSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Sets the function that returns a request's original URI from its extensions, for routers that strip a prefix from
    /// the URI. Default: the URI of the request is used.
    ///
    /// With axum: `.original_uri(|e| e.get::<OriginalUri>().map(|uri| &uri.0))`.
    #[must_use]
    pub fn original_uri(mut self, original_uri: fn(&Extensions) -> Option<&Uri>) -> Self {
        self.0.original_uri = original_uri;
        self
    }

    /// Sets the function that finds the peer's IP address in the extensions of a request, for the audit log. Default: an
    /// `IpAddr` or a `SocketAddr` extension.
    ///
    /// With axum: `.peer_ip(|e| e.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip()))`.
    #[must_use]
    pub fn peer_ip(mut self, peer_ip: fn(&Extensions) -> Option<IpAddr>) -> Self {
        self.0.peer_ip = peer_ip;
        self
    }

    /// Builds the panel.
    #[must_use]
    pub fn build(self) -> Panel {
        let mut panel = self.0;
        trim_base_path(&mut panel.settings.base_path);
        Panel(Arc::new(panel))
    }
}

settings_debug!(PanelBuilder);
settings_debug!(Panel);
