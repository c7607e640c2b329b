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
