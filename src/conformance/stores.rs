//! The rules that stores must keep: tokens, budgets, first answers and webhooks, in whatever backend.
//!
//! A backend says how to get empty stores ([`Keeper`]); [`store_tests!`](super::store_tests) turns every rule into a test
//! of its own:
//!
//! ```
//! use std::sync::Arc;
//! use forum_api::async_trait;
//! use forum_api::runtime::{Runtime, TokioRuntime};
//! use forum_api::conformance::{Set, stores::Keeper};
//! use forum_api::store::{Stores, Webhooks};
//!
//! struct MyStores; // holds what has to live as long as they do
//!
//! #[async_trait]
//! impl Keeper for MyStores {
//!     async fn empty(&self) -> Set<(Stores, Webhooks)> {
//!         Ok((Stores::in_memory(), Webhooks::in_memory()))
//!     }
//!
//!     fn runtime(&self) -> Arc<dyn Runtime> {
//!         Arc::new(TokioRuntime) // what races is polled in turn without
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

pub use super::rules::stores::CASES;
pub use super::support::{StoreFactory, StoreFixture};

use super::Report;

/// Tries every rule on `keeper`, each on stores of its own.
pub async fn run_all(keeper: &dyn StoreFactory) -> Report {
    Report::of(CASES, || StoreFixture::new(keeper)).await
}
