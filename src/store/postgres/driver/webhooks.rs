//! Webhooks in Postgres.

use std::collections::HashSet;

use async_trait::async_trait;

use super::Postgres;
use super::run::{all, change, changes, first, together};
use crate::host::Stored;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::postgres::{deliveries, endpoints, outbox};
use crate::store::{
    Backlog, Claim, Claimed, Claims, Deliveries, Endpoints, FanOut, Filter, Outbox, Settlement,
};
use crate::webhook::{Attempted, Delivery, Endpoint, Event};

#[async_trait]
impl Outbox for Postgres {
    async fn put(&self, event: &Event) -> Stored<()> {
        change(&self.0, outbox::put(event)).await?;
        Ok(())
    }

    async fn waiting(&self, limit: u32) -> Stored<Vec<Event>> {
        all(&self.0, outbox::waiting(limit), outbox::event).await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()> {
        change(&self.0, outbox::fan_out(events, now)).await?;
        Ok(())
    }
}

#[async_trait]
impl Endpoints for Postgres {
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool> {
        changes(&self.0, endpoints::add(endpoint)).await
    }

    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>> {
        first(&self.0, endpoints::find(id), endpoints::endpoint).await
    }

    async fn update(&self, endpoint: &Endpoint) -> Stored<bool> {
        changes(&self.0, endpoints::update(endpoint)).await
    }

    async fn remove(&self, id: &EndpointId) -> Stored<bool> {
        changes(&self.0, endpoints::remove(id)).await
    }

    async fn all(&self) -> Stored<Vec<Endpoint>> {
        all(&self.0, endpoints::all(), endpoints::endpoint).await
    }
}

#[async_trait]
impl Deliveries for Postgres {
    async fn claim(&self, claim: &Claim, now: Timestamp) -> Stored<Claims> {
        together(&self.0, deliveries::claim(claim, now), deliveries::claims).await
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let settle = deliveries::settle(settlements, now);
        let settled = all(&self.0, settle, deliveries::settled).await?;
        Ok(settled.into_iter().collect())
    }

    async fn release(&self, claimed: &[Claimed], due_at: Timestamp) -> Stored<()> {
        change(&self.0, deliveries::release(claimed, due_at)).await?;
        Ok(())
    }

    async fn backlog(&self, now: Timestamp) -> Stored<Backlog> {
        let counted = first(&self.0, deliveries::backlog(now), deliveries::counted);
        Ok(counted.await?.unwrap_or_default())
    }

    async fn send(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Stored<Option<DeliveryId>> {
        let sent = changes(&self.0, deliveries::send(event, endpoint, now)).await?;
        Ok(sent.then(|| DeliveryId::of(&event.id, endpoint)))
    }

    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> Stored<bool> {
        changes(&self.0, deliveries::retry(id, now)).await
    }

    async fn remove(&self, id: &DeliveryId) -> Stored<bool> {
        changes(&self.0, deliveries::remove(id)).await
    }

    async fn find(&self, id: &DeliveryId) -> Stored<Option<(Delivery, Vec<Attempted>)>> {
        together(&self.0, deliveries::find(id), deliveries::found).await
    }

    async fn list(&self, filter: &Filter) -> Stored<Vec<Delivery>> {
        all(&self.0, deliveries::list(filter), deliveries::delivery).await
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> Stored<u64> {
        change(&self.0, deliveries::sweep(before, limit)).await
    }
}
