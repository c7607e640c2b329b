//! What is told to whom.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use async_trait::async_trait;

use crate::host::Stored;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::webhook::{Attempted, Delivery, Endpoint, Event, Progress, State, Topic};

/// How many attempts of a delivery are kept, the latest ones, however often it is retried: those of ten rounds.
pub const ATTEMPTS_KEPT: u32 = 60;

/// What a worker can start now.
#[derive(Clone, Debug)]
pub struct Claim {
    /// How many attempts it has room for in all.
    pub room: u32,
    /// How many may go to one endpoint at once.
    pub per_endpoint: u32,
    /// How many go to which endpoint already.
    pub running: HashMap<EndpointId, u32>,
    /// How long what is claimed is this worker's alone.
    pub lease: Duration,
}

/// What a worker got.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// What it may start, the oldest due first.
    pub taken: Vec<Claimed>,
    /// When the next delivery is due of those that were not taken and whose endpoint has room; `None` for none.
    pub next: Option<Timestamp>,
}

/// A delivery that is one worker's until its lease runs out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The delivery, as it was before.
    pub delivery: Delivery,
    /// Where it goes, as it is now.
    pub endpoint: Endpoint,
    /// What is sent.
    pub event: Event,
    /// Whether another lease on it ran out unsettled: an attempt that failed.
    pub lease_expired: bool,
    /// Tells this lease on the delivery from every other one.
    pub lease: i64,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Of which delivery it was.
    pub delivery: DeliveryId,
    /// The [lease](Claimed::lease) that it had.
    pub lease: i64,
    /// How far the delivery has come with it.
    pub progress: Progress,
    /// What is kept of it, if anything was sent.
    pub attempted: Option<Attempted>,
}

impl Settlement {
    /// The end of the attempt at what was claimed.
    pub fn new(claimed: &Claimed, progress: Progress, attempted: Option<Attempted>) -> Self {
        Self {
            delivery: claimed.delivery.id.clone(),
            lease: claimed.lease,
            progress,
            attempted,
        }
    }
}

/// What waits for a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many deliveries are due.
    pub depth: u64,
    /// Since when the first of them has been; `None` for none.
    pub since: Option<Timestamp>,
}

/// Which deliveries are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those to this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Only those of this topic.
    pub topic: Option<Topic>,
    /// Only those that come after this one in the list.
    pub after: Option<(Timestamp, DeliveryId)>,
    /// At most so many.
    pub limit: u32,
}

/// Keeps deliveries. What is due is found at a cost that does not depend on how many wait.
#[async_trait]
pub trait Deliveries: Send + Sync + 'static {
    /// Takes what is due and a worker has room for, of enabled endpoints: no other claim gets it before the lease
    /// runs out. A delivery whose lease ran out is due.
    async fn claim(&self, claim: &Claim, now: Timestamp) -> Stored<Claims>;

    /// Notes how attempts ended, which ends their leases, all of it or nothing; gives the deliveries of which that was
    /// noted. Left out, and nothing is changed of it, is one whose lease is not in force any more, because it was
    /// ended or the delivery is another's by now. Of a delivery's attempts the latest [`ATTEMPTS_KEPT`] are kept. No two
    /// of the settlements are of one delivery.
    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>>;

    /// Gives back what was claimed and not attempted, uncounted, to be due at `due_at`: as it was before, so that a
    /// lease that had run out is told to the next one again. What is another's by now is left alone.
    async fn release(&self, claimed: &[Claimed], due_at: Timestamp) -> Stored<()>;

    /// What is due at `now`, of enabled endpoints: what a [`claim`](Self::claim) with room for everything would take.
    /// It is asked for every few seconds, at a cost that depends on no more than how much is due.
    async fn backlog(&self, now: Timestamp) -> Stored<Backlog>;

    /// Adds an event and its delivery to this endpoint alone, whatever its topics; `None` when there is no such
    /// endpoint, or it is disabled, and nothing was changed.
    async fn send(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Stored<Option<DeliveryId>>;

    /// Queues a delivery again, and leaves the attempts before it; `false` unless it is dead or gone.
    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> Stored<bool>;

    /// Removes a delivery, in any state; `false` when there is none.
    async fn remove(&self, id: &DeliveryId) -> Stored<bool>;

    /// A delivery and its attempts, in their order.
    async fn find(&self, id: &DeliveryId) -> Stored<Option<(Delivery, Vec<Attempted>)>>;

    /// Deliveries, the newest first (by `created_at`, then id).
    async fn list(&self, filter: &Filter) -> Stored<Vec<Delivery>>;

    /// Removes up to `limit` deliveries, and gives how many: what was delivered, gone or withheld before `before`,
    /// and what removed endpoints left. An event goes with its last delivery.
    async fn sweep(&self, before: Timestamp, limit: u32) -> Stored<u64>;
}
