//! Webhooks under test: events, endpoints, and what is queued.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use super::Shelf;
use super::store_fixture::at;
use super::{TestFailure, TestResult};
use crate::model::{DeliveryId, EndpointId, EventId, UserId};
use crate::store::{Claim, Claimed, Claims, FanOut, Settlement};
use crate::webhook::{
    Attempted, Delivery, Endpoint, Event, Progress, Sealed, State, Topic, Topics,
};

/// How long a claim is a worker's, in milliseconds.
pub(crate) const LEASE: i64 = 60_000;

/// The id of the endpoint with this number.
pub(crate) fn endpoint_id(number: u64) -> TestResult<EndpointId> {
    let id = EndpointId::new(&format!("whe_{number:022}"));
    id.ok_or_else(|| TestFailure::mismatch(number, "is no endpoint", "one"))
}

/// The endpoint with this number.
pub(crate) fn endpoint(number: u64) -> TestResult<Endpoint> {
    Ok(Endpoint {
        id: endpoint_id(number)?,
        url: format!("https://example.com/{number}"),
        topics: Topics {
            all: true,
            named: BTreeSet::new(),
        },
        owner: UserId::from(3),
        enabled: true,
        created_at: at(0),
        secret: Sealed::new(vec![7; 16]),
        pending: None,
        version: 1,
    })
}

/// The event with this number, which happened as many milliseconds after the beginning.
pub(crate) fn event(number: u64) -> TestResult<Event> {
    let id = EventId::new(&format!("evt_{number:022}"));
    Ok(Event {
        id: id.ok_or_else(|| TestFailure::mismatch(number, "is no event", "one"))?,
        topic: Topic::POST_CREATED,
        occurred_at: at(number.cast_signed()),
        forum: None,
        body: format!("{{\"event\":{number}}}"),
    })
}

/// To whom the event goes.
pub(crate) fn to(event: &Event, endpoints: &[&Endpoint]) -> FanOut {
    let endpoints = endpoints.iter().map(|endpoint| endpoint.id.clone());
    FanOut {
        event: event.id.clone(),
        endpoints: endpoints.collect(),
    }
}

/// Room for so many in all, and as many at each endpoint.
pub(crate) fn room(room: u32) -> Claim {
    Claim {
        room,
        per_endpoint: room,
        running: HashMap::new(),
        lease: Duration::from_millis(LEASE.unsigned_abs()),
    }
}

/// In this state after so many attempts; `due` milliseconds after the beginning, if it is still to be attempted.
pub(crate) fn progress(state: State, attempts: u32, due: Option<i64>) -> Progress {
    Progress {
        state,
        attempts,
        due_at: due.map(at),
    }
}

/// What an attempt with this number left.
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

/// The ids of what was claimed, in their order.
pub(crate) fn ids(claims: &Claims) -> Vec<DeliveryId> {
    let taken = claims.taken.iter();
    taken.map(|one| one.delivery.id.clone()).collect()
}

impl Shelf {
    /// Adds the endpoint with this number.
    pub(crate) async fn add(&self, number: u64) -> TestResult<Endpoint> {
        let endpoint = endpoint(number)?;
        let added = self.webhooks.endpoints.add(&endpoint).await?;
        check!(added)?;
        Ok(endpoint)
    }

    /// Puts an event and fans it out at `now`; gives the ids of its deliveries.
    pub(crate) async fn deliver(
        &self,
        event: &Event,
        endpoints: &[&Endpoint],
        now: i64,
    ) -> TestResult<Vec<DeliveryId>> {
        let outbox = &self.webhooks.outbox;
        outbox.put(event).await?;
        outbox.fan_out(&[to(event, endpoints)], at(now)).await?;
        let ids = endpoints.iter();
        Ok(ids.map(|to| DeliveryId::of(&event.id, &to.id)).collect())
    }

    /// Queues the event with this number for one endpoint at `now`.
    pub(crate) async fn queue(&self, number: u64, to: &Endpoint, now: i64) -> TestResult<DeliveryId> {
        let event = event(number)?;
        self.deliver(&event, &[to], now).await?;
        Ok(DeliveryId::of(&event.id, &to.id))
    }

    /// What a worker gets at `now`.
    pub(crate) async fn claim(&self, claim: &Claim, now: i64) -> TestResult<Claims> {
        Ok(self.webhooks.deliveries.claim(claim, at(now)).await?)
    }

    /// The one delivery that is due at `now`.
    pub(crate) async fn take(&self, now: i64) -> TestResult<Claimed> {
        let claims = self.claim(&room(1), now).await?;
        let taken = claims.taken.into_iter().next();
        taken.ok_or_else(|| TestFailure::mismatch(format_args!("a claim at {now}"), "nothing", "a delivery"))
    }

    /// Nothing is due at `now`.
    pub(crate) async fn nothing_due(&self, now: i64) -> TestResult {
        let claims = self.claim(&room(100), now).await?;
        check_eq!(ids(&claims), [], "what is due at {now}")
    }

    /// Returns whether sending may begin at `now`.
    pub(crate) async fn begins(&self, claimed: &Claimed, now: i64) -> TestResult<bool> {
        let deliveries = &self.webhooks.deliveries;
        let begun = deliveries.begin_sending(std::slice::from_ref(claimed), at(now));
        Ok(begun.await?.contains(&claimed.delivery.id))
    }

    /// Whether it was settled at `now`, without any attempt.
    pub(crate) async fn settle(
        &self,
        claimed: &Claimed,
        progress: Progress,
        now: i64,
    ) -> TestResult<bool> {
        self.note(claimed, progress, None, now).await
    }

    /// Whether it was settled at `now`, with this attempt.
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

    /// Those that were settled at `now`.
    pub(crate) async fn settle_all(
        &self,
        settlements: &[Settlement],
        now: i64,
    ) -> TestResult<HashSet<DeliveryId>> {
        let deliveries = &self.webhooks.deliveries;
        Ok(deliveries.settle(settlements, at(now)).await?)
    }

    /// Queues the event with this number for the endpoint at `now`, and settles it there in this state.
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
        let settled = self.settle(&claimed, progress(state, 1, None), now).await?;
        check!(settled)?;
        Ok(id)
    }

    /// The delivery, and its attempts.
    pub(crate) async fn found(&self, id: &DeliveryId) -> TestResult<(Delivery, Vec<Attempted>)> {
        let found = self.webhooks.deliveries.find(id).await?;
        found.ok_or_else(|| TestFailure::mismatch(format_args!("{id:?}"), "nothing", "a delivery"))
    }

    /// How far the delivery has come.
    pub(crate) async fn is_at(&self, id: &DeliveryId, expected: Progress) -> TestResult {
        let (delivery, _) = self.found(id).await?;
        check_eq!(delivery.progress, expected)
    }
}
