//! How a panel is put together.

use std::sync::Arc;

use http::{Extensions, Uri};

use super::lock::Lock;
use super::service::{Core, Panel};
use super::settings::Settings;
use super::spent::Spent;
use crate::environment::Environment;
use crate::host::Operator;
use crate::store::{Budgets, Idempotency, Stores, Tokens};
use crate::webhook_admin::Registry;

/// Puts a [`Panel`] together; what is mandatory was said in [`Panel::builder`].
pub struct Builder(Core);

impl Panel {
    /// A panel for the host's administrators: all that it cannot do without. The rest has a default.
    ///
    /// `tokens` are those of the API, `registry` goes by the settings and stores of the worker. `environment` may be
    /// the [`Runtime`](crate::runtime::Runtime) that the host's server runs on.
    pub fn builder(
        operator: Arc<dyn Operator>,
        tokens: Arc<dyn Tokens>,
        registry: Registry,
        environment: impl Into<Environment>,
    ) -> Builder {
        let Stores {
            budgets,
            idempotency,
            ..
        } = Stores::in_memory();
        Builder(Core {
            operator,
            tokens,
            registry,
            environment: environment.into(),
            settings: Settings::default(),
            original_uri: |_| None,
            lock: Lock::new(budgets),
            spent: Spent::new(idempotency),
        })
    }
}

impl Builder {
    /// Takes these settings. Default: [`Settings::default`].
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Counts wrong passwords in `budgets`. Nodes of one board share a store, such as that of the API. Default: in
    /// memory, for a single node.
    #[must_use]
    pub fn budgets(mut self, budgets: Arc<dyn Budgets>) -> Self {
        self.0.lock = Lock::new(budgets);
        self
    }

    /// Notes in `idempotency` which forms were carried out, so that a form that is sent again reveals no second secret.
    /// Nodes of one board share a store, such as that of the API. Default: in memory, for a single node.
    #[must_use]
    pub fn idempotency(mut self, idempotency: Arc<dyn Idempotency>) -> Self {
        self.0.spent = Spent::new(idempotency);
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

    /// The panel.
    #[must_use]
    pub fn build(self) -> Panel {
        let mut core = self.0;
        let mount = core.settings.mount.trim_end_matches('/').len();
        core.settings.mount.truncate(mount);
        Panel(Arc::new(core))
    }
}

settings_debug!(Builder);
