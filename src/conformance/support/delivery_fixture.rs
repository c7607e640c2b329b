//! Endpoints, events and deliveries that the rules for stores use.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use super::store_fixture::at;
use super::{Shelf, TestFailure, TestResult, only};
use crate::model::{DeliveryId, EndpointId, EventId, UserId};
use crate::store::{Claim, Claimed, Claims, FanOut, Settlement};
use crate::webhook::{
    Attempted, Delivery, Endpoint, Event, Progress, Sealed, State, Topic, Topics,
};

/// The length of a claim's lease, in milliseconds.
pub(crate) const LEASE: i64 = 60_000;

pub(crate) fn endpoint_id(number: u64) -> TestResult<EndpointId> {
    let id = EndpointId::new(&format!("whe_{number:022}"));
    id.ok_or_else(|| TestFailure::mismatch(number, "no id", "the id of an endpoint"))
}

pub(crate) fn endpoint(number: u64) -> TestResult<Endpoint> {
    let (all, named) = (true, BTreeSet::new());
    Ok(Endpoint {
        id: endpoint_id(number)?,
        url: format!("https://example.com/{number}"),
        topics: Topics { all, named },
        owner: UserId::from(3),
        enabled: true,
        created_at: at(0),
        secret: Sealed::new(vec![7; 16]),
        pending: None,
        version: 1,
    })
}

/// An event that occurred `number` milliseconds after the start.
pub(crate) fn event(number: u64) -> TestResult<Event> {
    let id = EventId::new(&format!("evt_{number:022}"));
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
pub(crate) fn room(room: u32) -> Claim {
    Claim {
        room,
        per_endpoint: room,
        running: HashMap::new(),
        lease: Duration::from_millis(LEASE.unsigned_abs()),
    }
}

/// `due` is in milliseconds after the start.
pub(crate) fn progress(state: State, attempts: u32, due: Option<i64>) -> Progress {
    Progress {
        state,
        attempts,
        due_at: due.map(at),
    }
}

pub(crate) fn attempted(attempt: u32) -> Attempted {
    Attempted {
        attempt,
        at: at(attempt.into()),
        status: Some(500),
        error: None,
        duration_ms: 12,
        answer: Some("no".into()),
    }
}

pub(crate) fn ids(claims: &Claims) -> Vec<DeliveryId> {
    let taken = claims.taken.iter();
    taken.map(|one| one.delivery.id.clone()).collect()
}

impl Shelf {
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
        outbox.put(event).await?;
        outbox.fan_out(&fan_out, at(now)).await?;
        let ids = endpoints.iter();
        Ok(ids.map(|to| DeliveryId::of(&event.id, &to.id)).collect())
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

    pub(crate) async fn claim(&self, claim: &Claim, now: i64) -> TestResult<Claims> {
        Ok(self.webhooks.deliveries.claim(claim, at(now)).await?)
    }

    pub(crate) async fn take(&self, now: i64) -> TestResult<Claimed> {
        only(self.claim(&room(1), now).await?.taken)
    }

    pub(crate) async fn nothing_due(&self, now: i64) -> TestResult {
        let claims = self.claim(&room(100), now).await?;
        check_eq!(ids(&claims), [], "what is due at {now}")
    }

    pub(crate) async fn begins(&self, claimed: &Claimed, now: i64) -> TestResult<bool> {
        let deliveries = &self.webhooks.deliveries;
        let begun = deliveries.begin_sending(std::slice::from_ref(claimed), at(now));
        Ok(begun.await?.contains(&claimed.delivery.id))
    }

    /// Whether the delivery was settled at `now`, without an attempt.
    pub(crate) async fn settle(
        &self,
        claimed: &Claimed,
        progress: Progress,
        now: i64,
    ) -> TestResult<bool> {
        self.note(claimed, progress, None, now).await
    }

    /// Whether the delivery was settled at `now`, with this attempt.
    pub(crate) async fn note(
        &self,
        claimed: &Claimed,
        progress: Progress,
        attempted: Option<&Attempted>,
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
        state: State,
        now: i64,
    ) -> TestResult<DeliveryId> {
        let id = self.queue(number, to, now).await?;
        let claimed = self.take(now).await?;
        check_eq!(claimed.delivery.id, id)?;
        check!(self.settle(&claimed, progress(state, 1, None), now).await?)?;
        Ok(id)
    }

    pub(crate) async fn found(&self, id: &DeliveryId) -> TestResult<(Delivery, Vec<Attempted>)> {
        only(self.webhooks.deliveries.find(id).await?)
    }

    pub(crate) async fn is_at(&self, id: &DeliveryId, expected: Progress) -> TestResult {
        check_eq!(self.found(id).await?.0.progress, expected)
    }
}
