//! Stores in memory, for one node and for tests. Their contents are lost when the process ends.

mod audit;
mod deliveries;
mod endpoints;
mod idempotency;
mod outbox;
mod rate_limits;
mod tokens;
mod usage;
mod webhook_tables;

pub use audit::MemoryAuditStore;
pub use idempotency::MemoryIdempotencyStore;
pub use rate_limits::MemoryRateLimitStore;
pub use tokens::MemoryTokenStore;
pub use usage::MemoryUsageStore;
pub(super) use webhook_tables::MemoryWebhookStore;
