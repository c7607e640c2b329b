//! Added: who is told of events, and the worker that tells them.

use std::sync::Arc;

use forum_api::host::BackendError;
use forum_api::runtime::TokioRuntime;
use forum_api::store::WebhookStores;
use forum_api::webhook::{HttpTransport, HttpTransportSettings, TopicSet, WebhookSecret};
use forum_api::webhook_admin::{NewEndpoint, WebhookAdmin, WebhookAdminError};
use forum_api::worker::{Worker, WorkerHandle};

use crate::before::Club;

/// Whether receivers may be on this machine, or in this network: for trying. A board in the open says no.
const ALLOW_PRIVATE: bool = true;

/// Starts a worker: it finds what the board's transactions put into the outbox within a second.
pub fn start(club: &Club) -> Result<WorkerHandle, BackendError> {
    let transport = HttpTransport::new(HttpTransportSettings {
        allow_private: ALLOW_PRIVATE,
        ..HttpTransportSettings::default()
    });
    let transport = transport.map_err(BackendError::new)?;
    let webhooks = WebhookStores::in_postgres(&club.pool);
    let worker = Worker::new(webhooks, Arc::new(club.clone()), transport, TokioRuntime);
    Ok(worker.start())
}

/// Has all that this member may see sent there, and gives the secret that signs it.
pub async fn register(
    club: &Club,
    member: i64,
    url: String,
) -> Result<WebhookSecret, WebhookAdminError> {
    let registry = WebhookAdmin::new(WebhookStores::in_postgres(&club.pool), TokioRuntime);
    let registration = NewEndpoint {
        url,
        topics: TopicSet {
            all: true,
            ..TopicSet::default()
        },
        owner: member.into(),
        secret: None,
    };
    let registry = registry.allow_private(ALLOW_PRIVATE);
    Ok(registry.add(registration).await?.secret)
}
