//! Webhooks in Postgres.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;

use super::Postgres;
use super::run::{all, change, changes, first, together};
use crate::error::{Fault, Stored};
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::postgres::{deliveries, endpoints, outbox};
use crate::store::{
    Backlog, Claim, Claimed, Claims, Deliveries, Endpoints, FanOut, Filter, Outbox, Quarantine,
    Settlement, Usage, report_unreadable,
};
use crate::webhook::{Attempted, Delivery, Endpoint, Event, KeyId};

#[async_trait]
impl Outbox for Postgres {
    async fn put(&self, event: &Event) -> Stored<()> {
        change(&self.pool, outbox::put(event)).await?;
        Ok(())
    }

    async fn waiting(&self, limit: u32) -> Stored<Vec<Event>> {
        let events = |rows: &[Vec<&str>]| Ok(rows.iter().map(|row| outbox::event(row)).collect());
        let rows: Vec<_> = together(&self.pool, outbox::waiting(limit), events).await?;
        let (events, unreadable): (Vec<_>, Vec<_>) = rows.into_iter().partition(Result::is_ok);
        let unreadable: Vec<_> = unreadable.into_iter().filter_map(Result::err).collect();
        if !unreadable.is_empty() {
            change(&self.pool, outbox::quarantine(&unreadable)).await?;
            for event in &unreadable {
                report_unreadable("events", &event.id, &event.reason);
            }
        }
        Ok(events.into_iter().filter_map(Result::ok).collect())
    }

    async fn quarantined(&self, limit: u32) -> Stored<Quarantine> {
        together(
            &self.pool,
            outbox::quarantined(limit),
            outbox::quarantine_of,
        )
        .await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()> {
        change(&self.pool, outbox::fan_out(events, now, self.clock)).await?;
        Ok(())
    }
}

#[async_trait]
impl Endpoints for Postgres {
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool> {
        changes(&self.pool, endpoints::add(endpoint)).await
    }

    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>> {
        first(&self.pool, endpoints::find(id), endpoints::endpoint).await
    }

    async fn update(&self, endpoint: &Endpoint) -> Stored<bool> {
        changes(&self.pool, endpoints::update(endpoint)).await
    }

    async fn remove(&self, id: &EndpointId) -> Stored<bool> {
        changes(&self.pool, endpoints::remove(id)).await
    }

    async fn all(&self) -> Stored<Vec<Endpoint>> {
        let endpoints = |rows: &[Vec<&str>]| {
            let read = |row: &Vec<&str>| {
                let endpoint = endpoints::endpoint(row);
                readable("endpoints", row, endpoint)
            };
            Ok(rows.iter().filter_map(read).collect())
        };
        together(&self.pool, endpoints::all(), endpoints).await
    }

    async fn key_id(&self) -> Stored<Option<KeyId>> {
        first(&self.pool, endpoints::key_id(), endpoints::key).await
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
    ) -> Stored<bool> {
        let replace = endpoints::replace_key(former, key, endpoints);
        let recorded = first(&self.pool, replace, endpoints::key).await?;
        Ok(recorded.is_some())
    }
}

#[async_trait]
impl Deliveries for Postgres {
    async fn claim(&self, claim: &Claim, now: Timestamp) -> Stored<Claims> {
        let statement = deliveries::claim(claim, now, self.clock);
        let read = |rows: &[Vec<&str>]| deliveries::claims(rows, claim, now);
        let (claims, unreadable) = together(&self.pool, statement, read).await?;
        for delivery in unreadable {
            report_unreadable("deliveries", &delivery.id, delivery.reason);
        }
        Ok(claims)
    }

    async fn begin_sending(
        &self,
        claimed: &[Claimed],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let begin = deliveries::begin_sending(claimed, now, self.clock);
        let begun = all(&self.pool, begin, deliveries::settled).await?;
        Ok(begun.into_iter().collect())
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let settle = deliveries::settle(settlements, now, self.clock);
        let settled = all(&self.pool, settle, deliveries::settled).await?;
        Ok(settled.into_iter().collect())
    }

    async fn release(&self, claimed: &[Claimed], wait: Duration, now: Timestamp) -> Stored<()> {
        let release = deliveries::release(claimed, wait, now, self.clock);
        change(&self.pool, release).await?;
        Ok(())
    }

    async fn backlog(&self, now: Timestamp) -> Stored<Backlog> {
        let backlog = deliveries::backlog(now, self.clock);
        let counted = first(&self.pool, backlog, deliveries::counted);
        Ok(counted.await?.unwrap_or_default())
    }

    async fn usage(&self, since: Timestamp, now: Timestamp) -> Stored<Usage> {
        together(
            &self.pool,
            deliveries::usage(since, now),
            deliveries::usage_of,
        )
        .await
    }

    async fn send(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Stored<Option<DeliveryId>> {
        let sent = changes(
            &self.pool,
            deliveries::send(event, endpoint, now, self.clock),
        )
        .await?;
        Ok(sent.then(|| DeliveryId::of(&event.id, endpoint)))
    }

    async fn retry(&self, id: &DeliveryId, now: Timestamp) -> Stored<bool> {
        changes(&self.pool, deliveries::retry(id, now, self.clock)).await
    }

    async fn retry_dead(&self, endpoint: &EndpointId, now: Timestamp, limit: u32) -> Stored<u64> {
        let retry = deliveries::retry_dead(endpoint, now, self.clock, limit);
        change(&self.pool, retry).await
    }

    async fn remove(&self, id: &DeliveryId) -> Stored<bool> {
        changes(&self.pool, deliveries::remove(id)).await
    }

    async fn find(&self, id: &DeliveryId) -> Stored<Option<(Delivery, Vec<Attempted>)>> {
        together(&self.pool, deliveries::find(id), deliveries::found).await
    }

    async fn list(&self, filter: &Filter) -> Stored<Vec<Delivery>> {
        let listed = |rows: &[Vec<&str>]| {
            let read = |row: &Vec<&str>| readable("deliveries", row, deliveries::delivery(row));
            Ok(rows.iter().filter_map(read).collect())
        };
        together(&self.pool, deliveries::list(filter), listed).await
    }

    async fn sweep(&self, before: Timestamp, limit: u32) -> Stored<u64> {
        change(&self.pool, deliveries::sweep(before, limit)).await
    }
}

/// The decoded row; `None`, with a report, when it cannot be decoded. The first column is the id.
fn readable<T>(table: &'static str, row: &[&str], decoded: Stored<T>) -> Option<T> {
    let report = |fault: &Fault| {
        let id = row.first().copied().unwrap_or_default();
        report_unreadable(table, id, &fault.to_string());
    };
    decoded.inspect_err(report).ok()
}
