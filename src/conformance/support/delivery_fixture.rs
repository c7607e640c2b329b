//! Endpoints, events and deliveries that the rules for stores use.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use super::store_fixture::at;
use super::{StoreFixture, TestFailure, TestResult, only};
use crate::model::{DeliveryId, EndpointId, EventId, UserId};
use crate::store::{ClaimBatch, ClaimRequest, ClaimedDelivery, FanOut, Settlement};
use crate::webhook::{
    AttemptRecord, Delivery, DeliveryProgress, DeliveryState, EncryptedSecret, Endpoint, Event,
    Topic, TopicSet,
};

/// The length of a claim's lease, in milliseconds.
pub(crate) const LEASE: i64 = 60_000;

pub(crate) fn endpoint_id(number: u64) -> TestResult<EndpointId> {
    let id = EndpointId::parse(&format!("whe_{number:022}"));
    id.ok_or_else(|| TestFailure::mismatch(number, "no id", "the id of an endpoint"))
}

pub(crate) fn endpoint(number: u64) -> TestResult<Endpoint> {
    let (all, named) = (true, BTreeSet::new());
    Ok(Endpoint {
        id: endpoint_id(number)?,
        url: format!("https://example.com/{number}"),
        topics: TopicSet { all, named },
        owner: UserId::from(3),
        enabled: true,
        created_at: at(0),
        secret: EncryptedSecret::new(vec![7; 16]),
        pending_secret: None,
        version: 1,
    })
}

/// An event that occurred `number` milliseconds after the start.
pub(crate) fn event(number: u64) -> TestResult<Event> {
    let id = EventId::parse(&format!("evt_{number:022}"));
    Ok(Event {
        id: id.ok_or_else(|| TestFailure::mismatch(number, "no id", "the id of an event"))?,
        topic: Topic::POST_CREATED,
        occurred_at: at(number.cast_signed()),
        forum: None,
        body: format!("{{\"event\":{number}}}"),
    })
}

pub(crate) fn to(event: &Event, endpoints: &[&Endpoint]) -> FanOut {
    let endpoints = endpoints.iter().map(|endpoint| endpoint.id.clone());
    FanOut {
        event: event.id.clone(),
        endpoints: endpoints.collect(),
    }
}

/// A claim of up to `room` deliveries, and as many at each endpoint.
pub(crate) fn room(room: u32) -> ClaimRequest {
    ClaimRequest {
        limit: room,
        per_endpoint: room,
        in_flight: HashMap::new(),
        lease: Duration::from_millis(LEASE.unsigned_abs()),
    }
}

/// `due` is in milliseconds after the start.
pub(crate) fn progress(state: DeliveryState, attempts: u32, due: Option<i64>) -> DeliveryProgress {
    DeliveryProgress {
        state,
        attempts,
        due_at: due.map(at),
    }
}

pub(crate) fn attempted(attempt: u32) -> AttemptRecord {
    AttemptRecord {
        attempt,
        at: at(attempt.into()),
        status: Some(500),
        error: None,
        duration_ms: 12,
        response_excerpt: Some("no".into()),
    }
}

pub(crate) fn ids(claims: &ClaimBatch) -> Vec<DeliveryId> {
    let taken = claims.deliveries.iter();
    taken.map(|one| one.delivery.id.clone()).collect()
}

impl StoreFixture {
    pub(crate) async fn add(&self, number: u64) -> TestResult<Endpoint> {
        let endpoint = endpoint(number)?;
        check!(self.webhooks.endpoints.add(&endpoint).await?)?;
        Ok(endpoint)
    }

    /// Puts an event and fans it out at `now`. Returns the ids of its deliveries.
    pub(crate) async fn deliver(
        &self,
        event: &Event,
        endpoints: &[&Endpoint],
        now: i64,
    ) -> TestResult<Vec<DeliveryId>> {
        let (outbox, fan_out) = (&self.webhooks.outbox, [to(event, endpoints)]);
        outbox.insert(event).await?;
        outbox.fan_out(&fan_out, at(now)).await?;
        let ids = endpoints.iter();
        Ok(ids
            .map(|to| DeliveryId::derive(&event.id, &to.id))
            .collect())
    }

    /// Queues the event with this number for one endpoint at `now`.
    pub(crate) async fn queue(
        &self,
        number: u64,
        to: &Endpoint,
        now: i64,
    ) -> TestResult<DeliveryId> {
        only(self.deliver(&event(number)?, &[to], now).await?)
    }

    pub(crate) async fn claim(&self, claim: &ClaimRequest, now: i64) -> TestResult<ClaimBatch> {
        Ok(self.webhooks.deliveries.claim(claim, at(now)).await?)
    }

    pub(crate) async fn take(&self, now: i64) -> TestResult<ClaimedDelivery> {
        only(self.claim(&room(1), now).await?.deliveries)
    }

    pub(crate) async fn nothing_due(&self, now: i64) -> TestResult {
        let claims = self.claim(&room(100), now).await?;
        check_eq!(ids(&claims), [], "what is due at {now}")
    }

    pub(crate) async fn begins(&self, claimed: &ClaimedDelivery, now: i64) -> TestResult<bool> {
        let deliveries = &self.webhooks.deliveries;
        let begun = deliveries.begin_sending(std::slice::from_ref(claimed), at(now));
        Ok(begun.await?.contains(&claimed.delivery.id))
    }

    /// Whether the delivery was settled at `now`, without an attempt.
    pub(crate) async fn settle(
        &self,
        claimed: &ClaimedDelivery,
        progress: DeliveryProgress,
        now: i64,
    ) -> TestResult<bool> {
        self.note(claimed, progress, None, now).await
    }

    /// Whether the delivery was settled at `now`, with this attempt.
    pub(crate) async fn note(
        &self,
        claimed: &ClaimedDelivery,
        progress: DeliveryProgress,
        attempted: Option<&AttemptRecord>,
        now: i64,
    ) -> TestResult<bool> {
        let settlement = Settlement::new(claimed, progress, attempted.cloned());
        let settled = self.settle_all(&[settlement], now).await?;
        Ok(settled.contains(&claimed.delivery.id))
    }

    pub(crate) async fn settle_all(
        &self,
        settlements: &[Settlement],
        now: i64,
    ) -> TestResult<HashSet<DeliveryId>> {
        Ok(self
            .webhooks
            .deliveries
            .settle(settlements, at(now))
            .await?)
    }

    /// Queues the event with this number at `now`, and settles it in this state.
    pub(crate) async fn end(
        &self,
        number: u64,
        to: &Endpoint,
        state: DeliveryState,
        now: i64,
    ) -> TestResult<DeliveryId> {
        let id = self.queue(number, to, now).await?;
        let claimed = self.take(now).await?;
        check_eq!(claimed.delivery.id, id)?;
        check!(self.settle(&claimed, progress(state, 1, None), now).await?)?;
        Ok(id)
    }

    pub(crate) async fn found(
        &self,
        id: &DeliveryId,
    ) -> TestResult<(Delivery, Vec<AttemptRecord>)> {
        only(self.webhooks.deliveries.find(id).await?)
    }

    pub(crate) async fn is_at(&self, id: &DeliveryId, expected: DeliveryProgress) -> TestResult {
        check_eq!(self.found(id).await?.0.progress, expected)
    }
}
