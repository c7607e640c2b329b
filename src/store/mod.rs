//! What the library keeps for itself: narrow traits, one atomic operation a method, and a file or folder a backend.
//!
//! Time comes in as an argument. Absent is `Ok(None)`; creating and changing are different verbs.

/// What any database keeps as a text: how it is read, and written.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
macro_rules! kept_as_texts {
    ($backend:ident) => {
        $backend! {
            DeliveryId: DeliveryId::new, ToString::to_string;
            EndpointId: EndpointId::new, ToString::to_string;
            EventId: EventId::new, ToString::to_string;
            ForumId: ForumId::new, ToString::to_string;
            Lookup: Lookup::parse, Lookup::as_str;
            PostId: PostId::new, ToString::to_string;
            State: State::new, |state: &State| state.as_str();
            ThreadId: ThreadId::new, ToString::to_string;
            Topic: Topic::new, Topic::as_str;
            UserId: UserId::new, ToString::to_string;
        }
    };
}

mod budgets;
mod idempotency;
pub mod memory;
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
mod schema_status;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod tokens;
mod webhooks;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crate::error::{Fault, IntoFault, Overloaded, Stored};
pub use budgets::Budgets;
pub use idempotency::{Attempt, Begin, Entry, Idempotency, Kept, Outcome, ResourceIds, Ticket};
pub use schema_status::SchemaStatus;
pub use tokens::Tokens;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) use webhooks::report_unreadable;
pub use webhooks::{
    ATTEMPTS_KEPT, Backlog, Claim, Claimed, Claims, Deliveries, DeliveryCount, Endpoints, FanOut,
    Filter, Outbox, Quarantine, QuarantinedEvent, Settlement, Usage, Webhooks,
};
pub(crate) use webhooks::{decode_event, ended_at};

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

opaque_debug!(Stores);

/// No code that could panic runs under a store's locks, so a poisoned one holds nothing half-done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
