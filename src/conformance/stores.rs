//! Rules for stores: tokens, rate limits, idempotency keys, usage, webhooks and the audit log. The module
//! [`rules::stores`](super::rules::stores) lists them.
//!
//! A backend implements [`StoreFactory`], which creates empty stores. [`store_tests!`](super::store_tests) defines a
//! `#[test]` for each rule:
//!
//! ```
//! use std::sync::Arc;
//! use forum_api::async_trait;
//! use forum_api::conformance::{FixtureResult, stores::StoreFactory};
//! use forum_api::store::memory::MemoryRateLimitStore;
//! use forum_api::store::{Stores, WebhookStores};
//! use forum_api::test_util::stores_in_memory;
//!
//! struct MyStores; // holds what the stores need, such as a temporary directory
//!
//! #[async_trait]
//! impl StoreFactory for MyStores {
//!     async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
//!         let (mut stores, webhooks) = stores_in_memory();
//!         stores.rate_limits = Arc::new(MemoryRateLimitStore::default()); // the store under test
//!         Ok((stores, webhooks))
//!     }
//! }
//!
//! fn block_on(case: impl Future<Output = ()>) {
//!     tokio::runtime::Runtime::new().unwrap().block_on(case);
//! }
//!
//! mod stores {
//!     use super::*;
//!     forum_api::conformance::store_tests!(MyStores, block_on);
//! }
//! ```

#[doc(inline)]
pub use super::rules::stores::{run, run_all};
pub use super::support::{PendingEventFixture, StoreFactory};
