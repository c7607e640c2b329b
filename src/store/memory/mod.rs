//! Stores in memory: for one node, and for tests. What they hold is gone when the process ends.

mod budgets;
mod idempotency;
mod shard;
mod tokens;
mod webhooks;

pub use budgets::MemoryBudgets;
pub use idempotency::MemoryIdempotency;
pub use tokens::MemoryTokens;
pub use webhooks::MemoryWebhooks;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// No code that could panic runs under these locks, so a poisoned one holds nothing half-done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
