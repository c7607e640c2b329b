//! Trait of delivery stores: claim, settle, release, retry, statistics, sweep.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use async_trait::async_trait;

use crate::audit::AuditEntry;
use crate::error::{BackendResult, named_variants};
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::webhook::{
    AttemptRecord, Delivery, DeliveryProgress, DeliveryState, Endpoint, Event, Topic,
};

/// Maximum number of stored attempts of a delivery. The store deletes older attempts.
#[cfg(any(feature = "conformance", feature = "postgres", feature = "sqlite"))]
pub(crate) const MAX_STORED_ATTEMPTS: u32 = 60;

/// Parameters of a claim.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// Maximum number of deliveries.
    pub limit: u32,
    /// Maximum number of concurrent attempts of one endpoint.
    pub max_in_flight_per_endpoint: u32,
    /// Number of the worker's running attempts for each endpoint. An endpoint that is not in the map has none.
    pub in_flight_by_endpoint: HashMap<EndpointId, u32>,
    /// Maximum number of deliveries to endpoints whose last attempt failed ([`Endpoint::failing_since`] is set) or took
    /// longer than a second ([`Endpoint::is_slow`]).
    pub max_impaired: u32,
    /// Duration of the leases.
    pub lease_duration: Duration,
}

#[cfg(feature = "sqlite")]
impl ClaimRequest {
    /// Returns the number of further attempts that the limit of the endpoint permits.
    pub(crate) fn capacity_for(&self, endpoint: &EndpointId) -> u32 {
        let in_flight = self.in_flight_by_endpoint.get(endpoint).copied().unwrap_or_default();
        self.max_in_flight_per_endpoint.saturating_sub(in_flight)
    }
}

/// Result of a claim.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct ClaimBatch {
    /// The claimed deliveries, the oldest due first.
    pub deliveries: Vec<ClaimedDelivery>,
    /// Due time of the next pending delivery that this claim did not return and whose endpoint has capacity; `None` if
    /// there is no such delivery. If deliveries beyond [`ClaimRequest::max_impaired`] exist, they are ignored.
    pub next_due_at: Option<Timestamp>,
}

/// Delivery leased to one worker.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// The delivery before the claim.
    pub delivery: Delivery,
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// Its event.
    pub event: Event,
    /// `true` if an earlier lease expired after its worker had recorded the start of sending
    /// ([`DeliveryStore::begin_sending`]) and before it recorded a result. The attempt under that
    /// lease counts as failed.
    pub previous_lease_expired: bool,
    /// Id of the lease, unique among the leases of the delivery.
    pub lease_id: i64,
    /// End of the lease by the caller's clock.
    pub lease_expires_at: Timestamp,
}

/// Result of an attempt.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Id of the delivery.
    pub delivery_id: DeliveryId,
    /// The [lease](ClaimedDelivery::lease_id) of the attempt.
    pub lease_id: i64,
    /// Progress of the delivery after the attempt.
    pub progress: DeliveryProgress,
    /// Record of the attempt; `None` if the delivery was withheld.
    pub attempt: Option<AttemptRecord>,
    /// Time from which the due time of the progress was computed. The clock can be corrected between this time and the
    /// write.
    pub computed_at: Timestamp,
}

impl Settlement {
    /// Creates the result of an attempt of a claimed delivery, which was computed at `now`.
    pub fn new(
        claimed: &ClaimedDelivery,
        progress: DeliveryProgress,
        attempt: Option<AttemptRecord>,
        now: Timestamp,
    ) -> Self {
        Self {
            delivery_id: claimed.delivery.id.clone(),
            lease_id: claimed.lease_id,
            progress,
            attempt,
            computed_at: now,
        }
    }

    /// Returns `Some(true)` if the endpoint accepted the delivery, `Some(false)` if the attempt failed or the secret
    /// cannot be decrypted, and `None` if the delivery was withheld or is queued.
    #[cfg(feature = "sqlite")]
    pub(crate) fn succeeded(&self) -> Option<bool> {
        match self.progress.state {
            DeliveryState::Delivered => Some(true),
            DeliveryState::Retrying | DeliveryState::Dead | DeliveryState::Gone => {
                self.attempt.as_ref().map(|_| false)
            }
            DeliveryState::Queued | DeliveryState::Withheld => None,
        }
    }
}

/// Statistics of the due and dead deliveries, and of disabled endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStats {
    /// Number of due deliveries, at most [`MAX_DEPTH`](Self::MAX_DEPTH).
    pub depth: u64,
    /// Time since the due time of the oldest due delivery; `None` if no delivery is due.
    pub oldest_age: Option<Duration>,
    /// Number of dead deliveries, at most [`MAX_DEPTH`](Self::MAX_DEPTH).
    pub dead: u64,
    /// Number of disabled endpoints.
    pub disabled_endpoints: u64,
    /// Number of deliveries that wait for a retry or are being sent again, also those of disabled endpoints, at most
    /// [`MAX_DEPTH`](Self::MAX_DEPTH).
    pub retrying: u64,
    /// Latest due time of the counted deliveries that wait for a retry; `None` if there are none.
    pub latest_retry_at: Option<Timestamp>,
}

impl QueueStats {
    /// Maximum of `depth`, `dead` and `retrying`. A store stops counting there, which bounds the cost of the query.
    pub const MAX_DEPTH: u64 = 10_001;
}

/// Number of deliveries with the same endpoint and the same state that were first queued in the same hour.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryCount {
    /// Age of the deliveries at the end of the period, in whole hours since they were first queued.
    pub hours_ago: u64,
    /// Id of the endpoint.
    pub endpoint_id: EndpointId,
    /// The state.
    pub state: DeliveryState,
    /// Number of deliveries.
    pub count: u64,
}

impl DeliveryCount {
    /// Maximum number of deliveries of a state that a store reads, which bounds the cost of the query.
    pub const MAX_DELIVERIES: u32 = 20_000;
}

/// Filter of [`WebhookStores::list_deliveries`](super::WebhookStores::list_deliveries). A field that is `None` does not
/// restrict the list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeliveryFilter {
    /// Only deliveries in this state.
    pub state: Option<DeliveryState>,
    /// Only deliveries to this endpoint.
    pub endpoint_id: Option<EndpointId>,
    /// Only deliveries of this topic.
    pub topic: Option<Topic>,
    /// Only deliveries whose last attempt had this response. Every value, including [`ResponseFilter::NoResponse`],
    /// excludes queued and withheld deliveries.
    pub response: Option<ResponseFilter>,
    /// Only deliveries that were first queued at this time or later.
    pub since: Option<Timestamp>,
    /// Only deliveries that were first queued before this time.
    pub before: Option<Timestamp>,
    /// Only deliveries after this position of the list: creation time and id of the last delivery of the previous page.
    pub after: Option<(Timestamp, DeliveryId)>,
    /// Maximum number of deliveries. Default: 100.
    pub limit: u32,
}

impl Default for DeliveryFilter {
    fn default() -> Self {
        Self {
            state: None,
            endpoint_id: None,
            topic: None,
            response: None,
            since: None,
            before: None,
            after: None,
            limit: 100,
        }
    }
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl DeliveryFilter {
    /// Returns the states that the filter selects. A delivery is delivered if and only if its last response is a success.
    pub(crate) fn states(&self) -> Vec<DeliveryState> {
        use DeliveryState::{Dead, Delivered, Gone, Retrying};
        let mut states = match self.response {
            None => DeliveryState::ALL.to_vec(),
            Some(ResponseFilter::Success) => vec![Delivered],
            Some(_) => vec![Retrying, Dead, Gone],
        };
        states.retain(|state| self.state.is_none_or(|only| only == *state));
        states
    }

    /// Returns the position after which the list begins: `after` or `before`, whichever is later in the list.
    pub(crate) fn start(&self) -> Option<(Timestamp, String)> {
        let after = self.after.as_ref().map(|(at, id)| (*at, id.to_string()));
        let before = self.before.map(|before| (before, String::new()));
        after.into_iter().chain(before).min()
    }
}

#[cfg(any(all(feature = "panel", feature = "webhooks"), feature = "postgres", feature = "sqlite"))]
impl DeliveryFilter {
    /// Returns the first digit of the status of the last attempt, 0 for an attempt without a response; `None` if the
    /// states of the selected deliveries determine the response.
    pub(crate) fn status_class(&self) -> Option<i16> {
        match self.response? {
            ResponseFilter::Success => None,
            ResponseFilter::Redirect => Some(3),
            ResponseFilter::ClientError => Some(4),
            ResponseFilter::ServerError => Some(5),
            ResponseFilter::NoResponse => Some(0),
        }
    }
}

named_variants! {
    /// Response to the last attempt of a delivery, for [`DeliveryFilter`].
    pub enum ResponseFilter: "2xx, 3xx, 4xx, 5xx or none" {
        /// A status from 200 to 299.
        Success = "2xx",
        /// A status from 300 to 399.
        Redirect = "3xx",
        /// A status from 400 to 499.
        ClientError = "4xx",
        /// A status from 500 to 599.
        ServerError = "5xx",
        /// No response: the attempt ended with an error, before or after the request was sent.
        NoResponse = "none",
    }
}

/// Results of the deliveries to one endpoint in a period
/// ([`WebhookStores::endpoint_stats`](super::WebhookStores::endpoint_stats)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointStats {
    /// Id of the endpoint.
    pub endpoint_id: EndpointId,
    /// Number of deliveries that were first queued in the period and are delivered.
    pub delivered: u64,
    /// Number of deliveries that were first queued in the period and whose last attempt failed: retrying, dead and gone
    /// deliveries.
    pub failed: u64,
    /// The delivery with the latest `created_at` among the deliveries that have a finished attempt, except those that an
    /// operator has queued again; `None` if there is none.
    pub last: Option<LastDelivery>,
}

impl EndpointStats {
    /// Maximum of `delivered` and `failed` together. A store stops counting there, which bounds the cost of the query.
    pub const MAX_DELIVERIES: u32 = 1_000;
}

/// Result of the latest delivery to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastDelivery {
    /// Id of the delivery.
    pub id: DeliveryId,
    /// State of the delivery: delivered, retrying, dead or gone.
    pub state: DeliveryState,
    /// Start of its last attempt.
    pub attempted_at: Timestamp,
    /// Status of the response to its last attempt; `None` if there was no response.
    pub status: Option<u16>,
}

/// Stores deliveries. The cost of finding due deliveries does not depend on the number of pending ones.
///
/// `now` is the caller's time. A backend that several machines share may use its own clock for leases, due times and ages.
/// It then uses the caller's times only to compute durations.
///
/// A method that takes an [`AuditEntry`] writes it to the [audit log](super::AuditStore) in the transaction of its change.
///
/// # Errors
/// Each method returns a [`BackendError`](crate::host::BackendError) if the backend fails. A failed write may have
/// taken effect. The caller can repeat it: leases and ids ensure that a repetition changes nothing further. Exception:
/// a repeated `claim` does not return the deliveries that the failed call leased. They are due again when their leases
/// expire.
#[async_trait]
pub trait DeliveryStore: Send + Sync + 'static {
    /// Leases due deliveries of enabled endpoints, within the limits of the request. No other claim returns them before the
    /// lease expires. A delivery whose lease expired is due.
    ///
    /// The store decodes each delivery separately. It logs a delivery that cannot be decoded, such as one written by a
    /// newer version, with its id, counts it in the metrics and omits it from the result. This is not an attempt: the
    /// delivery is due again when its lease expires.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn claim(&self, request: &ClaimRequest, now: Timestamp) -> BackendResult<ClaimBatch>;

    /// Records durably, in one transaction, that sending begins. Returns the deliveries for which it was recorded.
    ///
    /// Does not change deliveries whose lease was replaced or has expired by `now`. If a lease expires after this
    /// call recorded the start of sending, and before the attempt is settled, the attempt counts as failed
    /// ([`ClaimedDelivery::previous_lease_expired`]).
    ///
    /// `claimed` must not contain a delivery twice.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn begin_sending(
        &self,
        claimed: &[ClaimedDelivery],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>>;

    /// Records the results of attempts and ends their leases, in one transaction. Returns the deliveries for which a result
    /// was recorded.
    ///
    /// If an attempt failed and [`Endpoint::failing_since`] of its endpoint is `None`, sets this field to `now`. If an
    /// attempt succeeded, resets the field to `None`. An attempt failed if it has a record, and its delivery is
    /// retrying, dead or gone afterwards. If an attempt succeeded or failed, sets [`Endpoint::is_slow`]. The results of an
    /// endpoint apply in the order of `settlements`: the last attempt decides [`Endpoint::is_slow`], and a failure after a
    /// success sets [`Endpoint::failing_since`] to `now`.
    ///
    /// Does not change deliveries whose lease was replaced. Stores the latest 60 attempts of a
    /// delivery. `settlements` must not contain a delivery twice.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> BackendResult<HashSet<DeliveryId>>;

    /// Returns claimed deliveries to the queue without an attempt; they are due after `delay`.
    ///
    /// Restores everything except the due time to the state before the claim. If the claim reported an expired lease,
    /// the next claim reports it again. Does not change deliveries whose lease was replaced.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn release(
        &self,
        claimed: &[ClaimedDelivery],
        delay: Duration,
        now: Timestamp,
    ) -> BackendResult<()>;

    /// Corrects the times that were written by a clock that was more than 60 s ahead, so that nothing waits until they are
    /// reached. Sets to `now` the due times, the starts of retention periods and the starts of failures. Sets the
    /// registration of an endpoint to 60 s before `now`, or before the earliest event that waits for its fan-out, so that the
    /// endpoint still receives this event. Changes a bounded number of rows in one call, and returns their number.
    ///
    /// A store keeps the time from which it computed each due time. The retention of a dead delivery starts with its
    /// creation.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn correct_times(&self, now: Timestamp) -> BackendResult<u64>;

    /// See [`WebhookStores::queue_stats`](super::WebhookStores::queue_stats).
    async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats>;

    /// See [`WebhookStores::delivery_stats`](super::WebhookStores::delivery_stats).
    async fn delivery_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<DeliveryCount>>;

    /// See [`WebhookStores::endpoint_stats`](super::WebhookStores::endpoint_stats).
    async fn endpoint_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<EndpointStats>>;

    /// Adds an event with a delivery to this endpoint only, independently of its topics. Returns `None`, and changes
    /// nothing, if the endpoint does not exist or is disabled.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn enqueue(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> BackendResult<Option<DeliveryId>>;

    /// Queues a finished delivery (delivered, dead, gone or withheld) again and resets its number of attempts, or makes a
    /// retrying delivery due at once. The stored attempts stay. An attempt whose lease has expired, and that no worker has
    /// counted as failed, is not counted: the next claim does not report it.
    ///
    /// Returns `false`, and changes nothing, if the delivery is queued or leased, or does not exist. A lease that was
    /// taken more than 60 s ahead was written by a clock that was ahead, and counts as expired.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn retry(
        &self,
        id: &DeliveryId,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> BackendResult<bool>;

    /// Queues up to `limit` dead deliveries of an endpoint again, as [`retry`](Self::retry) does, in one transaction. Returns
    /// their number. They are due in the order of their events, one millisecond apart, and after those that were queued
    /// like this before.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64>;

    /// Removes a delivery in any state. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn remove(&self, id: &DeliveryId, audit: &AuditEntry) -> BackendResult<bool>;

    /// Removes up to `limit` deliveries in `state` that were created longer ago than `age`, the oldest first. Returns their
    /// number. `state` must be a [finished](DeliveryState) state.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn purge(
        &self,
        state: DeliveryState,
        age: Duration,
        now: Timestamp,
        limit: u32,
        audit: &AuditEntry,
    ) -> BackendResult<u64>;

    /// See [`WebhookStores::find_delivery`](super::WebhookStores::find_delivery).
    async fn find(&self, id: &DeliveryId) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>>;

    /// Returns `true` if a worker is sending the delivery, or records that the lease of another one expired while it was
    /// sending: the attempt has begun, and the lease has not expired at `now`.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn is_sending(&self, id: &DeliveryId, now: Timestamp) -> BackendResult<bool>;

    /// See [`WebhookStores::list_deliveries`](super::WebhookStores::list_deliveries).
    async fn list(
        &self,
        filter: &DeliveryFilter,
    ) -> BackendResult<Vec<(Delivery, Option<AttemptRecord>)>>;

    /// See [`WebhookStores::count_dead_deliveries`](super::WebhookStores::count_dead_deliveries).
    async fn count_dead(&self, endpoint: Option<&EndpointId>) -> BackendResult<u64>;

    /// Removes up to `limit` deliveries that became delivered, gone or withheld longer ago than `retention`, or whose endpoint
    /// was removed. Returns their number. An event is removed with its last delivery, unless it is in the feed.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn sweep(&self, retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64>;
}

/// Returns the start of the retention period of a delivery that reached this progress at `now`. Returns `None` for a
/// pending delivery, and for a dead one, because operators retry dead deliveries.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) fn retention_starts_at(
    progress: &DeliveryProgress,
    now: Timestamp,
) -> Option<Timestamp> {
    use DeliveryState::{Delivered, Gone, Withheld};
    let has_ended = matches!(progress.state, Delivered | Gone | Withheld);
    has_ended.then_some(now)
}
