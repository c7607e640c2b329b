//! Settings of a panel, and how it is built.

use std::sync::Arc;
use std::time::Duration;

use http::{Extensions, Uri};

use super::service::{Panel, PanelInner};
use crate::environment::Environment;
use crate::host::AdminAuth;
use crate::store::Stores;
use crate::webhook_admin::WebhookAdmin;

/// The settings of a panel. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct PanelSettings {
    /// The path below which the panel answers. Default: `/panel`.
    pub base_path: String,
    /// How much of a form is read, in bytes. Default: 1 MiB.
    pub body_limit: usize,
    /// How long a request may take. Default: 30 s.
    pub request_timeout: Duration,
}

impl Default for PanelSettings {
    fn default() -> Self {
        Self {
            base_path: "/panel".into(),
            body_limit: 1 << 20,
            request_timeout: Duration::from_secs(30),
        }
    }
}

/// Builds a [`Panel`]. [`Panel::builder`] takes what is mandatory.
pub struct PanelBuilder(PanelInner);

impl Panel {
    /// A panel for the host's administrators. Everything else has a default.
    ///
    /// `stores` are those of the API: tokens, wrong passwords, and the forms that were carried out. `registry` has the
    /// stores of the worker. `environment` may be the [`Runtime`](crate::runtime::Runtime) that the host's server runs on.
    pub fn builder(
        operator: Arc<dyn AdminAuth>,
        stores: Stores,
        registry: WebhookAdmin,
        environment: impl Into<Environment>,
    ) -> PanelBuilder {
        PanelBuilder(PanelInner {
            operator,
            stores,
            registry,
            environment: environment.into(),
            settings: PanelSettings::default(),
            original_uri: |_| None,
        })
    }
}

impl PanelBuilder {
    /// Takes these settings. Default: [`Settings::default`].
    #[must_use]
    pub fn settings(mut self, settings: PanelSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Where a request's extensions hold the URI as it was sent, if a router cuts it. Default: not looked for.
    ///
    /// Under axum: `.original_uri(|e| e.get::<OriginalUri>().map(|uri| &uri.0))`.
    #[must_use]
    pub fn original_uri(mut self, original_uri: fn(&Extensions) -> Option<&Uri>) -> Self {
        self.0.original_uri = original_uri;
        self
    }

    /// The panel.
    #[must_use]
    pub fn build(self) -> Panel {
        let mut panel = self.0;
        let mount = panel.settings.base_path.trim_end_matches('/').len();
        panel.settings.base_path.truncate(mount);
        Panel(Arc::new(panel))
    }
}

settings_debug!(PanelBuilder);
