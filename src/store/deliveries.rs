//! Trait of delivery stores: claim, settle, release, retry, statistics, sweep.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::webhook::{
    AttemptRecord, Delivery, DeliveryProgress, DeliveryState, Endpoint, Event, Topic,
};

/// Number of attempts of a delivery that are stored: the latest ones, of ten rounds.
pub const MAX_STORED_ATTEMPTS: u32 = 60;

/// Request for deliveries to send.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// Largest number of deliveries.
    pub limit: u32,
    /// Largest number of concurrent attempts of one endpoint.
    pub per_endpoint: u32,
    /// Number of running attempts of each endpoint.
    pub in_flight: HashMap<EndpointId, u32>,
    /// Duration of the leases.
    pub lease: Duration,
}

impl ClaimRequest {
    /// Number of attempts that this endpoint has capacity for.
    pub(crate) fn room_at(&self, endpoint: &EndpointId) -> u32 {
        let running = self.in_flight.get(endpoint).copied().unwrap_or_default();
        self.per_endpoint.saturating_sub(running)
    }

    /// Returns the keys of the oldest due deliveries up to the limit, and the due time of the next one, given the pending
    /// deliveries that each endpoint has capacity for.
    pub(crate) fn pick<K: Ord>(
        &self,
        mut pending: Vec<(Timestamp, K)>,
        now: Timestamp,
    ) -> (Vec<K>, Option<Timestamp>) {
        pending.sort_unstable();
        let due = pending.partition_point(|(due_at, _)| *due_at <= now);
        let left = pending.split_off(due.min(self.limit as usize));
        let next = left.first().map(|(due_at, _)| *due_at);
        (pending.into_iter().map(|(_, key)| key).collect(), next)
    }
}

/// Claimed deliveries.
#[derive(Clone, Debug, Default)]
pub struct ClaimBatch {
    /// The deliveries, the oldest due first.
    pub deliveries: Vec<ClaimedDelivery>,
    /// Due time of the next delivery that was not claimed and whose endpoint has capacity; `None` if there is none.
    pub next_due_at: Option<Timestamp>,
}

/// Delivery leased to one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// The delivery before the claim.
    pub delivery: Delivery,
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// Its event.
    pub event: Event,
    /// True if an earlier lease expired after its worker had recorded that sending begins
    /// ([`Deliveries::begin_sending`]): an attempt that failed.
    pub lease_expired: bool,
    /// Distinguishes this lease on the delivery from every other one.
    pub lease_id: i64,
    /// End of the lease by the caller's clock.
    pub lease_until: Timestamp,
}

/// End of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Its [lease](Claimed::lease).
    pub lease_id: i64,
    /// Progress of the delivery after the attempt.
    pub progress: DeliveryProgress,
    /// Record of the attempt, if anything was sent.
    pub attempt: Option<AttemptRecord>,
}

impl Settlement {
    /// The end of an attempt of a claimed delivery.
    pub fn new(
        claimed: &ClaimedDelivery,
        progress: DeliveryProgress,
        attempted: Option<AttemptRecord>,
    ) -> Self {
        Self {
            delivery: claimed.delivery.id.clone(),
            lease_id: claimed.lease_id,
            progress,
            attempt: attempted,
        }
    }
}

/// Deliveries that wait for a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Number of due deliveries. [`Backlog::MAX_DEPTH`] means: at least as many.
    pub depth: u64,
    /// Due time of the oldest of them; `None` when none is due.
    pub oldest_due_at: Option<Timestamp>,
}

impl QueueStats {
    /// Largest depth: more due deliveries are not counted, so that the cost is bounded.
    pub const MAX_DEPTH: u64 = 10_001;
}

/// Number of deliveries, and times of their attempts, in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Deliveries that were queued in the period, in groups, in no particular order.
    pub deliveries: Vec<DeliveryCount>,
    /// Attempts that began in the period, by duration: one number for each bound of
    /// [`ATTEMPT_TIME_BOUNDS`](Self::ATTEMPT_TIME_BOUNDS), which is exclusive, and the last one for longer attempts.
    pub attempt_times: [u64; 6],
}

impl Usage {
    /// Upper bounds of the groups of attempts, in milliseconds.
    pub const ATTEMPT_TIME_BOUNDS: [u64; 5] = [10, 100, 500, 1_000, 5_000];
}

/// Number of deliveries that were queued in the same hour, go to the same endpoint and are in the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCount {
    /// Whole hours from the time when they were queued to the end of the period.
    pub hours_ago: u64,
    /// Their endpoint.
    pub endpoint: EndpointId,
    /// Their state.
    pub state: DeliveryState,
    /// Their number.
    pub count: u64,
}

/// Filter of a list of deliveries.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    /// Only deliveries in this state.
    pub state: Option<DeliveryState>,
    /// Only deliveries to this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Only deliveries of this topic.
    pub topic: Option<Topic>,
    /// Only deliveries after this position of the list.
    pub after: Option<(Timestamp, DeliveryId)>,
    /// Largest number of deliveries.
    pub limit: u32,
}

/// Stores deliveries. Due deliveries are found at a cost that does not depend on how many wait.
///
/// `now` is the caller's time. A backend that several machines share may let its own clock decide leases and due times:
/// then it uses differences between the caller's times only.
#[async_trait]
pub trait DeliveryStore: Send + Sync + 'static {
    /// Leases due deliveries of enabled endpoints, within the limits of the request: no other claim gets them before the
    /// lease expires. A delivery whose lease expired is due.
    ///
    /// Each delivery is decoded on its own. One that cannot be decoded (such as that of a newer version) is logged with
    /// its id, counted and left out; no attempt is counted for it, and it is due again after the lease.
    async fn claim(&self, claim: &ClaimRequest, now: Timestamp) -> BackendResult<ClaimBatch>;

    /// Records, durably and in one step, that sending begins; returns the deliveries of which that was recorded. It leaves
    /// out, and does not change, a delivery whose lease is not in force any more or has expired by `now`. After the record
    /// a lease that expires unsettled is a failed attempt ([`Claimed::lease_expired`]). Each delivery occurs once in
    /// `claimed`.
    async fn begin_sending(
        &self,
        claimed: &[ClaimedDelivery],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>>;

    /// Records the ends of attempts, which ends their leases, in one step; returns the deliveries of which that was recorded.
    /// It leaves out, and does not change, a delivery whose lease is not in force any more. The latest [`ATTEMPTS_KEPT`]
    /// attempts of a delivery are stored. Each delivery occurs once in `settlements`.
    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>>;

    /// Returns a claimed delivery to the queue without an attempt, to be due after `wait`. It is as it was before the
    /// claim, so the next claim reports an earlier expired lease again. Changes nothing if the lease is another worker's.
    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        wait: Duration,
        now: Timestamp,
    ) -> BackendResult<()>;

    /// Counts the deliveries that an unlimited [`claim`](Self::claim) would return at `now`, up to
    /// [`Backlog::MAX_DEPTH`].
    async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats>;

    /// Counts the deliveries that were queued after `since` and the attempts that began after `since`, where `now` is the
    /// end of the period. Deliveries of removed endpoints are not counted.
    async fn usage(&self, since: Timestamp, now: Timestamp) -> BackendResult<Usage>;

    /// Adds an event and its delivery to this endpoint only, independently of its topics. Returns `None`, and changes
    /// nothing, when the endpoint does not exist or is disabled.
    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>>;

    /// Queues a finished delivery (delivered, dead, gone or withheld) again, its attempts counted from 0, or makes a
    /// retrying one due at once, its attempts unchanged; the log of its attempts stays. Returns `false`, and changes
    /// nothing, when it is queued, an attempt is under way (its lease is in force), or there is no such delivery.
    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> BackendResult<bool>;

    /// Queues up to `limit` dead deliveries of an endpoint again, as [`retry`](Self::retry) does, in one step; returns their
    /// number.
    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
    ) -> BackendResult<u64>;

    /// Removes a delivery in any state. Returns `false` when it does not exist.
    async fn remove(&self, id: &DeliveryId) -> BackendResult<bool>;

    /// Finds a delivery and its attempts, in their order.
    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>>;

    /// Lists deliveries, the newest first (by `created_at`, then id). Deliveries in a state of a newer version are left out.
    async fn list(&self, filter: &DeliveryFilter) -> BackendResult<Vec<Delivery>>;

    /// Removes up to `limit` deliveries that were delivered, gone or withheld before `before`, or whose endpoint was removed;
    /// returns their number. An event is deleted with its last delivery.
    async fn sweep(&self, before: Timestamp, limit: u32) -> BackendResult<u64>;
}

/// Start of the retention period of a delivery that reached this progress at `now`; `None` while it does not end.
pub(crate) fn ended_at(progress: &DeliveryProgress, now: Timestamp) -> Option<Timestamp> {
    let has_ended = matches!(
        progress.state,
        DeliveryState::Delivered | DeliveryState::Gone | DeliveryState::Withheld
    );
    has_ended.then_some(now)
}
