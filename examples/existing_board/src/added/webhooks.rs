//! Added: registers webhook endpoints and starts the worker.

use std::sync::Arc;

use forum_api::audit::AuditActor;
use forum_api::host::{BackendError, OrInternal};
use forum_api::store::WebhookStores;
use forum_api::webhook::{AllowedAddresses, TopicSet, WebhookSecret};
use forum_api::webhook_admin::{NewEndpoint, WebhookAdmin, WebhookAdminError};
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};

use super::environment;
use crate::before::Club;

/// Permits receivers in private networks, for this example. A public board must not permit them.
const ALLOWED: AllowedAddresses = AllowedAddresses::Private;

/// Starts a worker. It polls the outbox once a second.
pub fn start(club: &Club) -> Result<WorkerHandle, BackendError> {
    let mut settings = WorkerSettings::default();
    settings.allowed_addresses = ALLOWED;
    let stores = WebhookStores::in_postgres(&club.pool);
    let worker = Worker::builder(stores, Arc::new(club.clone()), &environment())
        .settings(settings)
        .build()
        .or_internal()?;
    Ok(worker.start())
}

/// Registers an endpoint for all events that this member may see. Returns the secret that signs them.
pub async fn register(
    club: &Club,
    member: i64,
    url: String,
) -> Result<WebhookSecret, WebhookAdminError> {
    let admin = WebhookAdmin::new(WebhookStores::in_postgres(&club.pool), &environment())
        .allowed_addresses(ALLOWED);
    let endpoint = NewEndpoint {
        url,
        topics: TopicSet { all: true, ..TopicSet::default() },
        owner: member.into(),
        owner_name: None,
        secret: None,
    };
    Ok(admin.add(endpoint, &AuditActor::SYSTEM).await?.secret)
}
