//! Endpoints, events and deliveries of the rules for stores. Times are milliseconds, as [`instant`] takes them.

use std::collections::HashSet;

use super::{StoreFixture, TestResult, exactly, instant, only};
use crate::model::{DeliveryId, EndpointId, EventId, ForumId, Timestamp};
use crate::store::{ClaimBatch, ClaimRequest, ClaimedDelivery, FanOut, Settlement};
use crate::test_util::{self, audit_entry, claim_request};
use crate::webhook::{
    AttemptRecord, Delivery, DeliveryProgress, DeliveryState, Endpoint, Event, Topic,
};

/// The length of a claim's lease, in milliseconds.
pub(crate) const LEASE: i64 = 60_000;

pub(crate) fn endpoint_id(number: u64) -> TestResult<EndpointId> {
    Ok(EndpointId::parse(&format!("whe_{number:022}"))?)
}

pub(crate) fn endpoint(number: u64) -> TestResult<Endpoint> {
    Ok(Endpoint {
        id: endpoint_id(number)?,
        url: format!("https://example.com/{number}"),
        created_at: instant(0),
        ..test_util::endpoint()
    })
}

/// Returns an event that occurred at `number`.
pub(crate) fn event(number: u64) -> TestResult<Event> {
    let id = EventId::parse(&format!("evt_{number:022}"));
    Ok(Event {
        id: id?,
        topic: Topic::POST_CREATED,
        occurred_at: instant(number.cast_signed()),
        forum_id: None,
        request_id: None,
        body: format!("{{\"event\":{number}}}"),
    })
}

/// Returns the event with this number with a value in every field, and the event 1 with the longest body.
pub(crate) fn extreme_events(number: u64) -> TestResult<[Event; 2]> {
    let every_field = Event {
        topic: Topic::parse("my_own.topic")?,
        occurred_at: Timestamp::from_millis(-7),
        forum_id: Some(ForumId::from(8)),
        request_id: Some("7f3a".into()),
        body: "{\"a\":\"'\u{e9}☎\\u0000\"}".into(),
        ..event(number)?
    };
    let body = format!("{{\"a\":\"{}\"}}", "x".repeat(Event::MAX_STORED_LEN - 8));
    Ok([every_field, Event { body, ..event(1)? }])
}

pub(crate) fn fan_out(event: &Event, endpoints: &[&Endpoint]) -> FanOut {
    let endpoint_ids = endpoints.iter().map(|endpoint| endpoint.id.clone());
    FanOut {
        event_id: event.id.clone(),
        endpoint_ids: endpoint_ids.collect(),
        stays_in_feed: false,
    }
}

pub(crate) fn progress(state: DeliveryState, attempts: u32, due: Option<i64>) -> DeliveryProgress {
    DeliveryProgress { state, attempts, due_at: due.map(instant) }
}

pub(crate) fn delivery_ids(claims: &ClaimBatch) -> Vec<DeliveryId> {
    let claimed = claims.deliveries.iter();
    claimed.map(|claimed| claimed.delivery.id.clone()).collect()
}

impl StoreFixture {
    pub(crate) async fn add_endpoint(&self, number: u64) -> TestResult<Endpoint> {
        let endpoint = endpoint(number)?;
        let endpoints = &self.webhooks.endpoints;
        check!(endpoints.add(&endpoint, &audit_entry()).await?)?;
        Ok(endpoint)
    }

    /// Adds the endpoints 1 to `N`.
    pub(crate) async fn add_endpoints<const N: usize>(&self) -> TestResult<[Endpoint; N]> {
        let mut endpoints = Vec::new();
        for number in (1..).take(N) {
            endpoints.push(self.add_endpoint(number).await?);
        }
        exactly(endpoints)
    }

    /// Inserts an event, fans it out at `now`, and returns the ids of its deliveries.
    pub(crate) async fn deliver(
        &self,
        event: &Event,
        endpoints: &[&Endpoint],
        now: i64,
    ) -> TestResult<Vec<DeliveryId>> {
        let outbox = &self.webhooks.outbox;
        let fan_out = [fan_out(event, endpoints)];
        outbox.insert(event).await?;
        outbox.fan_out(&fan_out, instant(now)).await?;
        let id = |endpoint: &&Endpoint| DeliveryId::derive(&event.id, &endpoint.id);
        Ok(endpoints.iter().map(id).collect())
    }

    /// Inserts the event with this number and fans it out to one endpoint at `now`.
    pub(crate) async fn enqueue(
        &self,
        number: u64,
        endpoint: &Endpoint,
        now: i64,
    ) -> TestResult<DeliveryId> {
        only(self.deliver(&event(number)?, &[endpoint], now).await?)
    }

    pub(crate) async fn claim(&self, claim: &ClaimRequest, now: i64) -> TestResult<ClaimBatch> {
        Ok(self.webhooks.deliveries.claim(claim, instant(now)).await?)
    }

    pub(crate) async fn claim_one(&self, now: i64) -> TestResult<ClaimedDelivery> {
        only(self.claim(&claim_request(1), now).await?.deliveries)
    }

    pub(crate) async fn expect_nothing_due(&self, now: i64) -> TestResult {
        let claims = self.claim(&claim_request(100), now).await?;
        check_eq!(delivery_ids(&claims), [], "due deliveries at {now}")
    }

    pub(crate) async fn begin_sending(
        &self,
        claimed: &ClaimedDelivery,
        now: i64,
    ) -> TestResult<bool> {
        let deliveries = &self.webhooks.deliveries;
        let batch = std::slice::from_ref(claimed);
        let begun = deliveries.begin_sending(batch, instant(now)).await?;
        Ok(begun.contains(&claimed.delivery.id))
    }

    /// Settles a delivery without a record of an attempt. Returns `true` if the delivery was settled.
    pub(crate) async fn settle(
        &self,
        claimed: &ClaimedDelivery,
        progress: DeliveryProgress,
        now: i64,
    ) -> TestResult<bool> {
        self.settle_attempt(claimed, progress, None, now).await
    }

    /// Settles a delivery, with the record of its attempt if there is one. Returns `true` if the delivery was settled.
    pub(crate) async fn settle_attempt(
        &self,
        claimed: &ClaimedDelivery,
        progress: DeliveryProgress,
        attempt: Option<&AttemptRecord>,
        now: i64,
    ) -> TestResult<bool> {
        let settlement = Settlement::new(claimed, progress, attempt.cloned(), instant(now));
        let settled = self.settle_all(&[settlement], now).await?;
        Ok(settled.contains(&claimed.delivery.id))
    }

    pub(crate) async fn settle_all(
        &self,
        settlements: &[Settlement],
        now: i64,
    ) -> TestResult<HashSet<DeliveryId>> {
        let deliveries = &self.webhooks.deliveries;
        Ok(deliveries.settle(settlements, instant(now)).await?)
    }

    /// Enqueues the event with this number at `now`, and settles its delivery in this state.
    pub(crate) async fn finish(
        &self,
        number: u64,
        endpoint: &Endpoint,
        state: DeliveryState,
        now: i64,
    ) -> TestResult<DeliveryId> {
        let id = self.enqueue(number, endpoint, now).await?;
        let claimed = self.claim_one(now).await?;
        check_eq!(claimed.delivery.id, id)?;
        check!(self.settle(&claimed, progress(state, 1, None), now).await?)?;
        Ok(id)
    }

    /// Finishes the events 0 to `N - 1`, each at the time of its number.
    pub(crate) async fn finish_all<const N: usize>(
        &self,
        endpoint: &Endpoint,
        state: DeliveryState,
    ) -> TestResult<[DeliveryId; N]> {
        let mut finished = Vec::new();
        for (number, now) in (0..).zip(0..).take(N) {
            finished.push(self.finish(number, endpoint, state, now).await?);
        }
        exactly(finished)
    }

    pub(crate) async fn fetch_delivery(
        &self,
        id: &DeliveryId,
    ) -> TestResult<(Delivery, Vec<AttemptRecord>)> {
        only(self.webhooks.deliveries.find(id).await?)
    }

    pub(crate) async fn expect_progress(
        &self,
        id: &DeliveryId,
        expected: DeliveryProgress,
    ) -> TestResult {
        check_eq!(self.fetch_delivery(id).await?.0.progress, expected)
    }
}
