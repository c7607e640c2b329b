//! Stores in memory, for one node and for tests. Their contents are lost when the process ends.

mod audit;
mod idempotency;
mod rate_limits;
mod tokens;
mod usage;

pub(super) use audit::MemoryAuditStore;
pub(super) use idempotency::MemoryIdempotencyStore;
pub use rate_limits::MemoryRateLimitStore;
pub(super) use tokens::MemoryTokenStore;
pub(super) use usage::MemoryUsageStore;
