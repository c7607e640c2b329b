//! Stores and environment of a board, and the services that share them.

#[cfg(feature = "webhooks")]
use std::sync::Arc;

use crate::api::{ForumApi, ForumApiBuilder};
use crate::environment::Environment;
#[cfg(feature = "panel")]
use crate::host::AdminAuth;
#[cfg(feature = "webhooks")]
use crate::host::Authorizer;
use crate::host::Host;
#[cfg(feature = "panel")]
use crate::panel::{Panel, PanelBuilder};
use crate::store::{Stores, WebhookStores};
#[cfg(feature = "webhooks")]
use crate::webhook::Transport;
#[cfg(feature = "webhooks")]
use crate::webhook_admin::WebhookAdmin;
#[cfg(feature = "webhooks")]
use crate::worker::{Worker, WorkerBuilder};

/// Stores and environment of a board. Its methods create the builders of the services that share them.
///
/// ```
/// use std::sync::Arc;
///
/// use forum_api::host::{Authorizer, Board};
/// use forum_api::store::sqlite::Database;
/// use forum_api::store::{Stores, WebhookStores};
/// use forum_api::{BuildError, Environment, ForumApi, Wiring};
///
/// fn api<B: Authorizer + Board>(board: Arc<B>, database: &Database) -> Result<ForumApi, BuildError> {
///     let environment = Environment::default().public_origin("https://board.example");
///     let stores = Stores::in_sqlite(database);
///     let wiring = Wiring::new(stores, WebhookStores::in_sqlite(database), environment);
///     wiring.api(board).build()
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Wiring {
    /// Stores of the API.
    pub stores: Stores,
    /// Stores of webhooks.
    pub webhooks: WebhookStores,
    /// The environment of all services.
    pub environment: Environment,
}

impl Wiring {
    /// Creates the value. `environment` may be the [`Runtime`](crate::runtime::Runtime) of the services.
    pub fn new(
        stores: Stores,
        webhooks: WebhookStores,
        environment: impl Into<Environment>,
    ) -> Self {
        Self {
            stores,
            webhooks,
            environment: environment.into(),
        }
    }

    /// Creates the builder of the API.
    pub fn api(&self, host: impl Into<Host>) -> ForumApiBuilder {
        ForumApi::builder(host, self.stores.clone()).environment(&self.environment)
    }

    /// Creates the administration of webhooks.
    #[cfg(feature = "webhooks")]
    pub fn webhook_admin(&self) -> WebhookAdmin {
        WebhookAdmin::new(self.webhooks.clone(), &self.environment)
    }

    /// Creates the builder of the webhook worker, which checks the owners of endpoints with `authorizer` and sends with
    /// `transport`.
    #[cfg(feature = "webhooks")]
    pub fn worker(
        &self,
        authorizer: Arc<dyn Authorizer>,
        transport: impl Transport,
    ) -> WorkerBuilder {
        Worker::builder(
            self.webhooks.clone(),
            authorizer,
            transport,
            &self.environment,
        )
    }

    /// Creates the builder of the control panel, with an administration of webhooks such as that of
    /// [`webhook_admin`](Self::webhook_admin).
    #[cfg(feature = "panel")]
    pub fn panel(
        &self,
        admin_auth: Arc<dyn AdminAuth>,
        webhook_admin: WebhookAdmin,
    ) -> PanelBuilder {
        Panel::builder(
            admin_auth,
            self.stores.clone(),
            webhook_admin,
            &self.environment,
        )
    }
}
