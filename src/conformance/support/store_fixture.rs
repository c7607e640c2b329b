//! Host trait that creates stores under test.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Capability, FixtureResult, Subject, TestFailure, TestResult};
use crate::model::{Timestamp, UserId};
use crate::store::{PendingEventStore, Stores, WebhookStores};
use crate::token::{Lookup, SecretDigest, TokenRecord};
use crate::webhook::Event;

/// Creates the stores of one backend.
///
/// The rules pass times of their own to the stores. On Postgres create them with `Stores::in_postgres_with(&driver,
/// LeaseClock::Caller)`: those of `in_postgres` use the clock of Postgres, and fail rules about leases, ages and expiry.
#[async_trait]
pub trait StoreFactory: Send + Sync {
    /// Creates empty stores. Each rule creates its own stores, which share no state with the stores of other rules.
    ///
    /// The rules pass times of their own: stores in Postgres are created with `in_postgres_with` and `LeaseClock::Caller`.
    ///
    /// # Errors
    /// If the stores cannot be created. The rule fails.
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)>;

    /// Creates an empty store of pending events of a board whose transactions cannot write to the outbox. Default: `None`,
    /// which skips the rules about it.
    ///
    /// # Errors
    /// If the store cannot be created. The rule fails.
    async fn create_pending_events(&self) -> FixtureResult<Option<Arc<dyn PendingEventFixture>>> {
        Ok(None)
    }

    /// Returns the capabilities that the stores do not have: [`Capability::InjectedClock`] if rate limits use the
    /// backend's own clock. Empty by default.
    fn unsupported(&self) -> &[Capability] {
        &[]
    }
}

/// A [`PendingEventStore`] under test.
#[async_trait]
pub trait PendingEventFixture: PendingEventStore {
    /// Adds an event, as a command does, in a transaction that is committed when the call returns.
    ///
    /// # Errors
    /// If the event cannot be added. The rule fails.
    async fn insert(&self, event: &Event) -> FixtureResult<()>;
}

/// Empty stores for one rule.
pub(crate) struct StoreFixture {
    /// The stores of the API.
    pub(crate) stores: Stores,
    /// The stores of webhooks.
    pub(crate) webhooks: WebhookStores,
    pending_events: Option<Arc<dyn PendingEventFixture>>,
    unsupported: Vec<Capability>,
}

opaque_debug!(StoreFixture);

impl Subject for StoreFixture {}

impl StoreFixture {
    /// Creates empty stores.
    ///
    /// # Errors
    /// If the factory fails.
    pub(crate) async fn new(factory: &dyn StoreFactory) -> TestResult<Self> {
        let (stores, webhooks) = factory.create().await?;
        Ok(Self {
            stores,
            webhooks,
            pending_events: factory.create_pending_events().await?,
            unsupported: factory.unsupported().to_vec(),
        })
    }

    /// Skips the rule if the backend does not support `capability`.
    ///
    /// # Errors
    /// [`TestFailure::Unsupported`].
    pub(crate) fn require(&self, capability: Capability) -> TestResult {
        if self.unsupported.contains(&capability) {
            Err(TestFailure::Unsupported(capability))
        } else {
            Ok(())
        }
    }

    /// Returns the store of pending events. Skips the rule if there is none.
    ///
    /// # Errors
    /// [`TestFailure::Unsupported`].
    pub(crate) fn pending_events(&self) -> TestResult<Arc<dyn PendingEventFixture>> {
        let unsupported = TestFailure::Unsupported(Capability::PendingEvents);
        self.pending_events.clone().ok_or(unsupported)
    }
}

/// Returns the lookup of the token with this number of at most 16 digits.
pub(crate) fn lookup(number: u64) -> TestResult<Lookup> {
    Ok(Lookup::parse(&format!("{number:016}"))?)
}

/// Returns a valid token of the member 3 with this number.
pub(crate) fn token(number: u64) -> TestResult<TokenRecord> {
    Ok(TokenRecord {
        lookup: lookup(number)?,
        digest: SecretDigest::new([7; 32]),
        owner: UserId::from(3),
        label: String::new(),
        scopes: ["forums:read".to_owned()].into(),
        created_at: instant(0),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    })
}

/// Returns the time `millis` milliseconds after 2026-01-01T00:00:00Z.
pub(crate) fn instant(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + millis)
}
