//! Storage of tokens, rate limits, idempotency keys and webhooks: a narrow trait for each resource, with one atomic
//! operation a method, and a folder for each backend.
//!
//! Time is an argument. `Ok(None)` means absent; creating and changing are different methods.

/// Types that SQL databases store as text, each with its decoder and its encoder.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
macro_rules! text_columns {
    ($backend:ident) => {
        $backend! {
            DeliveryId: DeliveryId::new, ToString::to_string;
            EndpointId: EndpointId::new, ToString::to_string;
            EventId: EventId::new, ToString::to_string;
            ForumId: ForumId::new, ToString::to_string;
            KeyId: KeyId::new, KeyId::as_str;
            Lookup: Lookup::parse, Lookup::as_str;
            PostId: PostId::new, ToString::to_string;
            State: State::new, |state: &State| state.as_str();
            ThreadId: ThreadId::new, ToString::to_string;
            Topic: Topic::new, Topic::as_str;
            Topics: Topics::from_json, Topics::to_json;
            UserId: UserId::new, ToString::to_string;
        }
    };
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod decode;
mod deliveries;
mod endpoints;
mod idempotency;
pub mod memory;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod migrations;
mod outbox;
#[cfg(feature = "postgres")]
pub mod postgres;
mod rate_limits;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod tokens;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crate::error::{Fault, IntoFault, Overloaded, Stored};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use decode::{decode_event, report_unreadable, scopes_from_json, scopes_to_json};
use deliveries::ended_at;
pub use deliveries::{
    ATTEMPTS_KEPT, Backlog, Claim, Claimed, Claims, Deliveries, DeliveryCount, Filter, Settlement,
    Usage,
};
pub use endpoints::Endpoints;
pub use idempotency::{Attempt, Begin, Entry, Idempotency, Kept, Outcome, ResourceIds, Ticket};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use migrations::{Migration, MigrationError, Migrations, SchemaStatus};
pub use outbox::{FanOut, Outbox, Quarantine, QuarantinedEvent};
pub use rate_limits::Budgets;
pub use tokens::Tokens;

/// The stores of an API.
#[derive(Clone)]
pub struct Stores {
    /// Tokens.
    pub tokens: Arc<dyn Tokens>,
    /// Budgets.
    pub budgets: Arc<dyn Budgets>,
    /// Responses by `Idempotency-Key`.
    pub idempotency: Arc<dyn Idempotency>,
}

impl Stores {
    /// Stores in memory, whose contents are lost when the process ends.
    pub fn in_memory() -> Self {
        Self {
            tokens: Arc::new(memory::MemoryTokens::default()),
            budgets: Arc::new(memory::MemoryBudgets::default()),
            idempotency: Arc::new(memory::MemoryIdempotency::default()),
        }
    }
}

opaque_debug!(Stores);

/// The stores of webhooks: three views of one store.
#[derive(Clone)]
pub struct Webhooks {
    /// Events that wait to be fanned out.
    pub outbox: Arc<dyn Outbox>,
    /// Endpoints.
    pub endpoints: Arc<dyn Endpoints>,
    /// Deliveries.
    pub deliveries: Arc<dyn Deliveries>,
}

impl Webhooks {
    /// Stores in memory, whose contents are lost when the process ends.
    pub fn in_memory() -> Self {
        Self::in_one(memory::MemoryWebhooks::default())
    }

    /// One store that implements all three traits.
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

/// No code that could panic runs under the lock of a store, so a poisoned lock protects no partial change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
