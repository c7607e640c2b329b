//! Added: who is told of events, and the worker that tells them.

use std::sync::Arc;

use forum_api::host::Fault;
use forum_api::runtime::TokioRuntime;
use forum_api::store::Webhooks;
use forum_api::webhook::{HttpSettings, HttpTransport, Secret, Topics};
use forum_api::webhook_admin::{Declined, Registration, Registry};
use forum_api::worker::{Worker, WorkerHandle};

use crate::before::Club;

/// Whether receivers may be on this machine, or in this network: for trying. A board in the open says no.
const ALLOW_PRIVATE: bool = true;

/// Starts a worker: it finds what the board's transactions put into the outbox within a second.
pub fn start(club: &Club) -> Result<WorkerHandle, Fault> {
    let transport = HttpTransport::new(HttpSettings {
        allow_private: ALLOW_PRIVATE,
        ..HttpSettings::default()
    });
    let transport = transport.map_err(Fault::new)?;
    let webhooks = Webhooks::in_postgres(&club.pool);
    let worker = Worker::new(webhooks, Arc::new(club.clone()), transport, TokioRuntime);
    Ok(worker.start())
}

/// Has all that this member may see sent there, and gives the secret that signs it.
pub async fn register(club: &Club, member: i64, url: String) -> Result<Secret, Declined> {
    let registry = Registry::new(Webhooks::in_postgres(&club.pool), TokioRuntime);
    let registration = Registration {
        url,
        topics: Topics {
            all: true,
            ..Topics::default()
        },
        owner: member.into(),
        secret: None,
    };
    let registry = registry.allow_private(ALLOW_PRIVATE);
    Ok(registry.register(registration).await?.secret)
}
