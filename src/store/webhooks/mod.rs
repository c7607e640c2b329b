//! Where webhooks are kept: events, endpoints and deliveries.

mod deliveries;
mod endpoints;
mod outbox;

use std::sync::Arc;

pub use deliveries::{Claim, Claimed, Claims, Deliveries, Filter};
pub use endpoints::Endpoints;
pub use outbox::{FanOut, Outbox};

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

impl std::fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Webhooks")
    }
}
