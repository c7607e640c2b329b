//! What the library keeps for itself: narrow traits, one atomic operation a method, and a file or folder a backend.
//!
//! Time comes in as an argument. Absent is `Ok(None)`; creating and changing are different verbs.

mod budgets;
mod idempotency;
pub mod memory;
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod tokens;
mod webhooks;

use std::sync::Arc;

pub use budgets::Budgets;
pub use idempotency::{Attempt, Begin, Entry, Idempotency, Kept, Outcome, Ticket};
pub use tokens::Tokens;
pub(crate) use webhooks::ended_at;
pub use webhooks::{
    ATTEMPTS_KEPT, Backlog, Claim, Claimed, Claims, Deliveries, Endpoints, FanOut, Filter, Outbox,
    Settlement, Webhooks,
};

/// The stores that one service uses.
#[derive(Clone)]
pub struct Stores {
    /// Tokens.
    pub tokens: Arc<dyn Tokens>,
    /// Budgets.
    pub budgets: Arc<dyn Budgets>,
    /// First answers by `Idempotency-Key`.
    pub idempotency: Arc<dyn Idempotency>,
}

impl Stores {
    /// All in memory: gone when the process ends.
    pub fn in_memory() -> Self {
        Self {
            tokens: Arc::new(memory::MemoryTokens::default()),
            budgets: Arc::new(memory::MemoryBudgets::default()),
            idempotency: Arc::new(memory::MemoryIdempotency::default()),
        }
    }
}

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stores")
    }
}
