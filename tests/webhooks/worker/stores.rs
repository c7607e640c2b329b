//! Stores that count what they are asked, and fail when they are told to.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::host::{Fault, Stored};
use forum_api::model::{DeliveryId, EndpointId, Timestamp};
use forum_api::store::{
    Backlog, Claim, Claimed, Claims, Deliveries, Endpoints, FanOut, Filter, Outbox, Quarantine,
    Settlement, Usage, Webhooks,
};
use forum_api::webhook::{Attempted, Delivery, Endpoint, Event, KeyId};
use tokio::task::yield_now;

/// Stores behind a counter that may refuse.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    inner: Webhooks,
    calls: Arc<Mutex<Calls>>,
}

#[derive(Debug, Default)]
struct Calls {
    counts: BTreeMap<&'static str, u32>,
    /// Those that fail, by the operation and how many calls there were of any.
    fails: Option<fn(&str, u32) -> bool>,
    /// What is not settled, nor anything with it.
    refused: Option<fn(&Settlement) -> bool>,
    /// Whether another worker is just taking all that is due.
    contended: bool,
}

impl Counted {
    pub(crate) fn new(inner: Webhooks) -> Self {
        Self {
            inner,
            calls: Arc::default(),
        }
    }

    /// Fails whenever `fails` says so of an operation and the number of calls of any before.
    pub(crate) fn fail(&self, fails: fn(&str, u32) -> bool) {
        self.calls.lock().unwrap().fails = Some(fails);
    }

    /// Fails to settle whatever `refused` says so of, and what comes with it.
    pub(crate) fn refuse(&self, refused: fn(&Settlement) -> bool) {
        self.calls.lock().unwrap().refused = Some(refused);
    }

    /// From now on another worker is just taking all that is due.
    pub(crate) fn contend(&self) {
        self.calls.lock().unwrap().contended = true;
    }

    /// How often each operation was asked for since this was last called.
    pub(crate) fn take_counts(&self) -> BTreeMap<&'static str, u32> {
        std::mem::take(&mut self.calls.lock().unwrap().counts)
    }

    fn called(&self, name: &'static str) -> Stored<&Webhooks> {
        let mut calls = self.calls.lock().unwrap();
        let before = calls.counts.values().sum();
        *calls.counts.entry(name).or_default() += 1;
        if calls.fails.is_some_and(|fails| fails(name, before)) {
            return Err(Fault::new("the store is out of reach"));
        }
        Ok(&self.inner)
    }
}

#[async_trait]
impl Outbox for Counted {
    async fn put(&self, event: &Event) -> Stored<()> {
        self.inner.outbox.put(event).await
    }

    async fn waiting(&self, limit: u32) -> Stored<Vec<Event>> {
        self.called("waiting")?.outbox.waiting(limit).await
    }

    async fn quarantined(&self, limit: u32) -> Stored<Quarantine> {
        self.inner.outbox.quarantined(limit).await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()> {
        self.called("fan_out")?.outbox.fan_out(events, now).await
    }
}

#[async_trait]
impl Endpoints for Counted {
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool> {
        self.inner.endpoints.add(endpoint).await
    }

    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>> {
        self.inner.endpoints.find(id).await
    }

    async fn update(&self, endpoint: &Endpoint) -> Stored<bool> {
        self.inner.endpoints.update(endpoint).await
    }

    async fn remove(&self, id: &EndpointId) -> Stored<bool> {
        self.inner.endpoints.remove(id).await
    }

    async fn all(&self) -> Stored<Vec<Endpoint>> {
        self.called("endpoints")?.endpoints.all().await
    }

    async fn key_id(&self) -> Stored<Option<KeyId>> {
        self.inner.endpoints.key_id().await
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
    ) -> Stored<bool> {
        let stored = &self.inner.endpoints;
        stored.replace_key(former, key, endpoints).await
    }
}

#[async_trait]
impl Deliveries for Counted {
    async fn claim(&self, claim: &Claim, now: Timestamp) -> Stored<Claims> {
        if self.calls.lock().unwrap().contended {
            let next = Some(now);
            return self.called("claim").map(|_| Claims {
                next,
                ..Claims::default()
            });
        }
        let claims = self.called("claim")?.deliveries.claim(claim, now).await;
        // Long enough for attempts to end before the worker knows what it got.
        for _ in 0..8 {
            yield_now().await;
        }
        claims
    }

    async fn begin_sending(
        &self,
        claimed: &[Claimed],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let deliveries = &self.called("begin_sending")?.deliveries;
        deliveries.begin_sending(claimed, now).await
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let deliveries = &self.called("settle")?.deliveries;
        let refused = self.calls.lock().unwrap().refused;
        if refused.is_some_and(|refused| settlements.iter().any(refused)) {
            return Err(Fault::new("it cannot be kept"));
        }
        deliveries.settle(settlements, now).await
    }

    async fn release(&self, claimed: &[Claimed], wait: Duration, now: Timestamp) -> Stored<()> {
        let deliveries = &self.called("release")?.deliveries;
        deliveries.release(claimed, wait, now).await
    }

    /// Nothing depends on how often it is asked for.
    async fn backlog(&self, now: Timestamp) -> Stored<Backlog> {
        self.inner.deliveries.backlog(now).await
    }

    async fn usage(&self, since: Timestamp, now: Timestamp) -> Stored<Usage> {
        self.inner.deliveries.usage(since, now).await
    }

    async fn send(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Stored<Option<DeliveryId>> {
        self.inner.deliveries.send(event, endpoint, now).await
    }

    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> Stored<bool> {
        self.inner.deliveries.retry(id, now).await
    }

    async fn retry_dead(&self, endpoint: &EndpointId, now: Timestamp, limit: u32) -> Stored<u64> {
        self.called("retry_dead")?
            .deliveries
            .retry_dead(endpoint, now, limit)
            .await
    }

    async fn remove(&self, id: &DeliveryId) -> Stored<bool> {
        self.inner.deliveries.remove(id).await
    }

    async fn find(&self, id: &DeliveryId) -> Stored<Option<(Delivery, Vec<Attempted>)>> {
        self.inner.deliveries.find(id).await
    }

    async fn list(&self, filter: &Filter) -> Stored<Vec<Delivery>> {
        self.inner.deliveries.list(filter).await
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> Stored<u64> {
        self.called("sweep")?.deliveries.sweep(before, limit).await
    }
}
