//! Stores under test.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;

use super::concurrency::race;
use super::{Capability, FixtureResult, TestFailure, TestResult};
use crate::model::Timestamp;
use crate::runtime::{InlineRuntime, Runtime};
use crate::store::{Stores, WebhookStores};
use crate::token::Lookup;

/// A kind of stores, to be held against the rules.
#[async_trait]
pub trait StoreFactory: Send + Sync {
    /// Empty stores, and those of webhooks. Each rule asks for its own, and no two may share anything.
    ///
    /// # Errors
    /// When they cannot be made: the rule that asked for them fails.
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)>;

    /// What they lack: [`Capability::SuiteClock`] where budgets go by the backend's own clock. Nothing by default.
    fn unsupported(&self) -> &[Capability] {
        &[]
    }

    /// Where work that races with other work runs. By default the suite itself polls all of it in turn; an executor
    /// with several threads, such as [`TokioRuntime`](crate::runtime::TokioRuntime), finds more.
    fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(InlineRuntime)
    }
}

/// Empty stores, which one case has for itself.
#[derive(Debug)]
pub struct StoreFixture {
    /// The stores.
    pub stores: Stores,
    /// Those of webhooks.
    pub webhooks: WebhookStores,
    runtime: Arc<dyn Runtime>,
    unsupported: Vec<Capability>,
}

impl StoreFixture {
    /// Empty stores of `keeper`'s.
    ///
    /// # Errors
    /// When it cannot make them.
    pub async fn new(keeper: &dyn StoreFactory) -> TestResult<Self> {
        let (stores, webhooks) = keeper.create().await?;
        Ok(Self {
            stores,
            webhooks,
            runtime: keeper.runtime(),
            unsupported: keeper.unsupported().to_vec(),
        })
    }

    /// Ends the case where the backend lacks `part`.
    ///
    /// # Errors
    /// [`TestFailure::Unsupported`].
    pub fn require(&self, part: Capability) -> TestResult {
        match self.unsupported.contains(&part) {
            true => Err(TestFailure::Unsupported(part)),
            false => Ok(()),
        }
    }

    /// Runs all of `works` at once, and gives what came of each, in no order.
    pub async fn race<T: Send + 'static>(
        &self,
        works: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
    ) -> Vec<T> {
        race(&*self.runtime, works).await
    }
}

/// The lookup of the token with this number.
///
/// # Errors
/// For a number of more than 16 digits.
pub(crate) fn lookup(number: u64) -> TestResult<Lookup> {
    let lookup = Lookup::parse(&format!("{number:016}"));
    lookup.ok_or_else(|| TestFailure::mismatch(number, "no lookup", "a lookup"))
}

/// So many milliseconds after 2026-01-01T00:00:00Z.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + millis)
}
