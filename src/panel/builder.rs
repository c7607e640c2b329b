//! The panel, its settings and its builder.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::request::Parts;

use ipnet::IpNet;
use maud::html;

use crate::api::{self, PeerIp, RequestIdGenerator};
use crate::build_error::BuildError;
use crate::environment::Environment;
use crate::host::AdminAuth;
use crate::html::{Frame, check_accent_color, check_page_url, is_http_url, page_path};
use crate::http_util::{Content, OriginalUri, no_original_uri, parse_base_path};
use crate::store::Stores;
#[cfg(feature = "webhooks")]
use crate::webhook_admin::WebhookAdmin;

/// Settings of a [`Panel`]. [`PanelBuilder::build`] rejects values out of bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PanelSettings {
    /// The path below which the panel is served, with a leading slash. Slashes at the end are removed. Default: `/panel`.
    pub base_path: String,
    /// Largest body of a form, in bytes, at least 1. Default: 1 MiB.
    pub body_limit: usize,
    /// Timeout of a request, at least 1 ms. Default: 30 s. A change that has begun completes even after the timeout.
    pub request_timeout: Duration,
    /// Absolute URL of the API, such as `https://board.example/api/v1`, for the example request beside a new token. Slashes
    /// at the end are removed. Default: empty, which omits the example.
    pub api_url: String,
    /// Absolute URL, or path from the root of the host, of the reference page, such as `/docs`. Default: empty,
    /// which omits the links to it.
    pub reference_url: String,
    /// Absolute URL of the `McpServer` (feature `mcp`), such as `https://board.example/mcp`, for the configuration
    /// of a client beside a new token. Default: empty, which omits the configuration.
    pub mcp_url: String,
    /// Name of the board, for the header of each page, its icon and the title of the browser's tab. Default: empty.
    pub board_name: String,
    /// Absolute URL, or path from the root of the host, of the board's start page. Default: empty, which omits the link.
    pub board_url: String,
    /// Accent colour of links, buttons and the icon, as `#rrggbb`. The pages show a darker or lighter shade where the
    /// colour has too little contrast. Default: empty, the colour of the panel's theme.
    pub accent_color: String,
    /// Tasks that the panel does not have, each with the command or the address that does it, for example
    /// `("Members", "forum-server member")`. The usage page lists them at its end. Default: none.
    pub other_tasks: Vec<(String, String)>,
    /// Networks of the proxies whose `x-forwarded-for` header is trusted for the addresses in the audit log. Default: none.
    pub trusted_proxies: Vec<IpNet>,
}

impl Default for PanelSettings {
    fn default() -> Self {
        Self {
            base_path: "/panel".into(),
            body_limit: 1 << 20,
            request_timeout: Duration::from_secs(30),
            api_url: String::new(),
            reference_url: String::new(),
            mcp_url: String::new(),
            board_name: String::new(),
            board_url: String::new(),
            accent_color: String::new(),
            other_tasks: Vec::new(),
            trusted_proxies: Vec::new(),
        }
    }
}

impl PanelSettings {
    /// Renders the first row of the header of the panel's pages as HTML, with icon, name and links, for a host's own
    /// pages that use the style sheet of the panel. `current` is the text of the link to the page: `Board`,
    /// `API reference` or `Panel`.
    pub fn page_header(&self, current: &str) -> String {
        self.frame().header(current, html! {}).into_string()
    }

    /// Returns the icon of the pages as a `data:` URL: the first letter of the board's name.
    pub fn icon_url(&self) -> String {
        self.frame().icon_url()
    }

    pub(super) fn frame(&self) -> Frame<'_> {
        Frame {
            board_name: &self.board_name,
            accent_color: &self.accent_color,
            board_url: &self.board_url,
            reference_url: &self.reference_url,
            panel_url: page_path(&self.base_path),
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
    /// `None` if the panel does not manage webhooks.
    #[cfg(feature = "webhooks")]
    pub(super) webhook_admin: Option<WebhookAdmin>,
    pub(super) environment: Environment,
    pub(super) request_ids: RequestIdGenerator,
    pub(super) settings: PanelSettings,
    pub(super) original_uri: Box<OriginalUri>,
    pub(super) peer_ip: Box<PeerIp>,
    pub(super) style: Content,
}

/// Builder of a [`Panel`]. Required parts are arguments of [`Panel::builder`]; everything else has a default.
#[must_use = "the builder does nothing until `build` is called"]
pub struct PanelBuilder(PanelInner);

impl Panel {
    /// Returns a builder.
    ///
    /// `admin_auth` authenticates administrators. Pass the same `stores` as to the API: the panel manages the tokens,
    /// and records password attempts in the rate limit store and submitted forms in the idempotency store.
    pub fn builder(
        admin_auth: impl AdminAuth,
        stores: Stores,
        environment: &Environment,
    ) -> PanelBuilder {
        PanelBuilder(PanelInner {
            admin_auth: Arc::new(admin_auth),
            stores,
            #[cfg(feature = "webhooks")]
            webhook_admin: None,
            request_ids: RequestIdGenerator::new(&*environment.random),
            environment: environment.clone(),
            settings: PanelSettings::default(),
            original_uri: no_original_uri(),
            peer_ip: Box::new(api::peer_ip),
            style: style(&PanelSettings::default()),
        })
    }
}

impl PanelBuilder {
    /// Sets the settings. Default: [`PanelSettings::default`].
    pub fn settings(mut self, settings: PanelSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Adds the pages of webhooks. Create `webhook_admin` with the same webhook stores as the worker. Default: the panel has
    /// no such pages.
    #[cfg(feature = "webhooks")]
    pub fn webhooks(mut self, webhook_admin: WebhookAdmin) -> Self {
        self.0.webhook_admin = Some(webhook_admin);
        self
    }

    /// Sets the source of a request's original URI, for routers that remove a path prefix. Default: the URI of the
    /// request is the original one.
    ///
    /// The function must not panic.
    ///
    /// With axum: [`axum_0_8`](Self::axum_0_8).
    pub fn original_uri(
        mut self,
        original_uri: impl Fn(&Parts) -> Option<&Uri> + Send + Sync + 'static,
    ) -> Self {
        self.0.original_uri = Box::new(original_uri);
        self
    }

    /// Sets the source of the peer's IP address, for the addresses in the audit log. Default: an `IpAddr` or a `SocketAddr`
    /// extension of the request.
    ///
    /// The function must not panic.
    ///
    /// With axum: [`axum_0_8`](Self::axum_0_8).
    pub fn peer_ip(
        mut self,
        peer_ip: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        self.0.peer_ip = Box::new(peer_ip);
        self
    }

    /// Reads the original URI and the peer's IP address from the request's extensions
    /// [`OriginalUri`](axum::extract::OriginalUri) and [`ConnectInfo<SocketAddr>`](axum::extract::ConnectInfo), for a
    /// service that is mounted in an axum router.
    #[cfg(feature = "axum-0_8")]
    pub fn axum_0_8(self) -> Self {
        use crate::http_util::axum;
        self.original_uri(axum::original_uri).peer_ip(axum::peer_ip)
    }

    /// Builds the panel.
    ///
    /// # Errors
    /// [`BuildError`] if a setting of the panel or the [`public_origin`](Environment::public_origin) of the environment
    /// is invalid.
    pub fn build(self) -> Result<Panel, BuildError> {
        let mut panel = self.0;
        parse_base_path("base_path", &mut panel.settings.base_path, "/panel")?;
        BuildError::require_positive("body_limit", panel.settings.body_limit)?;
        BuildError::require_duration("request_timeout", panel.settings.request_timeout)?;
        let settings = &mut panel.settings;
        let api_url = settings.api_url.trim_end_matches('/').len();
        settings.api_url.truncate(api_url);
        let is_valid = settings.api_url.is_empty() || is_http_url(&settings.api_url);
        BuildError::require(is_valid, "api_url", API_URL)?;
        check_page_url("reference_url", &settings.reference_url)?;
        check_page_url("board_url", &settings.board_url)?;
        check_accent_color(&settings.accent_color)?;
        let is_valid = settings.mcp_url.is_empty() || is_http_url(&settings.mcp_url);
        BuildError::require(is_valid, "mcp_url", MCP_URL)?;
        panel.style = style(&panel.settings);
        panel.environment.validate()?;
        Ok(Panel(Arc::new(panel)))
    }
}

const API_URL: &str = "an absolute URL such as `https://board.example/api/v1`, or an empty text";

const MCP_URL: &str = "an absolute URL such as `https://board.example/mcp`, or an empty text";

fn style(settings: &PanelSettings) -> Content {
    let css = concat!(include_str!("../html/theme.css"), include_str!("style.css"));
    let accent = settings.frame().accent_style();
    Content::tagged("text/css; charset=utf-8", format!("{css}{accent}"))
}

debug_fields!(PanelBuilder, |it| settings: it.0.settings);
debug_fields!(Panel, |it| settings: it.0.settings);
