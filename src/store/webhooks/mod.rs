//! Where webhooks are kept: events, endpoints and deliveries.

mod deliveries;
mod endpoints;
mod outbox;
mod rules;
mod usage;

use std::sync::Arc;

pub use deliveries::{
    ATTEMPTS_KEPT, Backlog, Claim, Claimed, Claims, Deliveries, Filter, Settlement,
};
pub use endpoints::Endpoints;
pub use outbox::{FanOut, Outbox, Quarantine, QuarantinedEvent};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) use rules::report_unreadable;
pub(crate) use rules::{decode_event, ended_at};
pub use usage::{DeliveryCount, Usage};

use super::memory::MemoryWebhooks;

/// The stores that webhooks use: three views of one.
#[derive(Clone)]
pub struct Webhooks {
    /// Events that wait to be fanned out.
    pub outbox: Arc<dyn Outbox>,
    /// Who is told.
    pub endpoints: Arc<dyn Endpoints>,
    /// What is told to whom.
    pub deliveries: Arc<dyn Deliveries>,
}

impl Webhooks {
    /// All in memory: gone when the process ends.
    pub fn in_memory() -> Self {
        Self::in_one(MemoryWebhooks::default())
    }

    /// All in one store.
    pub fn in_one<T: Outbox + Endpoints + Deliveries>(store: T) -> Self {
        let store = Arc::new(store);
        Self {
            outbox: store.clone(),
            endpoints: store.clone(),
            deliveries: store,
        }
    }
}

opaque_debug!(Webhooks);
