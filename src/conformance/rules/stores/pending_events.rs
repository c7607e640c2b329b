//! Events in the board's own database.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;

use super::*;
use crate::error::{BackendError, BackendResult};
use crate::model::{DeliveryId, EventId, Timestamp};
use crate::store::{
    DeliveryFilter, FanOut, OutboxStore, PendingEventStore, Quarantine, StoredEvent, relay_events,
};
use crate::webhook::{Endpoint, Event};

store_rules! {
    mod pending_events, __rules_pending_events;

    /// Inserted events are pending with all fields unchanged, in their insertion order and up to the limit.
    async fn inserted_events_are_pending_in_order(fixture: &StoreFixture) -> TestResult {
        let board = fixture.pending_events()?;
        let mut events = Vec::from(extreme_events(5)?);
        for number in [3, 10, 4, 2] {
            events.push(Event { occurred_at: instant(0), ..event(number)? });
        }
        for event in &events {
            board.insert(event).await?;
        }
        check_eq!(board.pending(9).await?, events)?;
        check_eq!(board.pending(3).await?, events.get(..3).unwrap_or_default())
    }

    /// Only the named events are removed. An unknown id is ignored.
    async fn only_the_named_events_are_removed(fixture: &StoreFixture) -> TestResult {
        let board = fixture.pending_events()?;
        let events = [event(1)?, event(2)?, event(3)?];
        for event in &events {
            board.insert(event).await?;
        }
        let [first, second, third] = events;
        for _ in 0..2 {
            board.remove(&[third.id.clone(), event(4)?.id, first.id.clone()]).await?;
            check_eq!(board.pending(9).await?, std::slice::from_ref(&second))?;
        }
        board.insert(&first).await?;
        check_eq!(board.pending(9).await?, [second, first], "after a late insert")
    }

    /// If the process stops before or after any step of the relay and of the fan-out, and another process repeats them, each
    /// event has one delivery to each endpoint. The second process may fan out the copied events first.
    async fn a_kill_between_any_steps_neither_loses_nor_repeats_an_event(fixture: &StoreFixture) -> TestResult {
        let board = fixture.pending_events()?;
        let endpoints: [Endpoint; 2] = fixture.add_endpoints().await?;
        let mut expected = BTreeSet::new();
        let mut numbers = 1..;
        for fans_out_first in [false, true] {
            for steps in 0.. {
                for number in numbers.by_ref().take(2) {
                    let event = event(number)?;
                    board.insert(&event).await?;
                    expected.extend(ids_of_deliveries(&event, &endpoints));
                }
                let killed = Worker::new(fixture, steps)?.run(&endpoints).await;
                let worker = Worker::new(fixture, u32::MAX)?;
                if fans_out_first {
                    worker.fan_out(&endpoints).await?;
                }
                worker.run(&endpoints).await?;
                fixture.expect_deliveries(&expected, &format!("a kill after {steps} steps")).await?;
                if killed.is_ok() {
                    break;
                }
            }
        }
        check_eq!(board.pending(1).await?, [])?;
        check_eq!(fixture.webhooks.outbox.pending(1).await?, [], "the outbox")
    }

    /// Several workers that relay at the same time create one delivery of each event to each endpoint.
    async fn concurrent_relays_neither_lose_nor_repeat_an_event(fixture: &StoreFixture) -> TestResult {
        let board = fixture.pending_events()?;
        let endpoints: [Endpoint; 2] = fixture.add_endpoints().await?;
        let mut expected = BTreeSet::new();
        for number in 0..12 {
            let event = event(number)?;
            board.insert(&event).await?;
            expected.extend(ids_of_deliveries(&event, &endpoints));
        }
        let mut workers = Vec::new();
        for _ in 0..4 {
            let worker = Worker::new(fixture, u32::MAX)?;
            let endpoints = endpoints.clone();
            workers.push(async move { worker.run(&endpoints).await });
        }
        succeed_concurrently(workers).await?;
        Worker::new(fixture, u32::MAX)?.fan_out(&endpoints).await?;
        fixture.expect_deliveries(&expected, "concurrent relays").await?;
        check_eq!(board.pending(1).await?, [])
    }
}

/// A worker that is killed after a number of steps: each call of a store is preceded and followed by a step.
struct Worker {
    events: Killable<Arc<dyn PendingEventStore>>,
    outbox: Killable<Arc<dyn OutboxStore>>,
}

struct Killable<T> {
    inner: T,
    /// Number of steps before the kill. The calls after the kill fail without calling the store.
    steps: Arc<AtomicU32>,
}

impl Worker {
    fn new(fixture: &StoreFixture, steps: u32) -> TestResult<Self> {
        let steps = Arc::new(AtomicU32::new(steps));
        Ok(Self {
            events: Killable { inner: fixture.pending_events()?, steps: Arc::clone(&steps) },
            outbox: Killable { inner: fixture.webhooks.outbox.clone(), steps },
        })
    }

    /// Moves all pending events to the outbox and fans them out to all endpoints.
    async fn run(&self, endpoints: &[Endpoint]) -> BackendResult<()> {
        // Two events are pending in each round; a store that does not remove them fails the rule instead of repeating it.
        for _ in 0..9 {
            let relayed = relay_events(&self.events, &self.outbox, 5).await?;
            if let Some(error) = relayed.rejection {
                return Err(error);
            }
            if relayed.copied == 0 {
                break;
            }
        }
        self.fan_out(endpoints).await
    }

    async fn fan_out(&self, endpoints: &[Endpoint]) -> BackendResult<()> {
        let endpoints: Vec<_> = endpoints.iter().collect();
        let pending = self.outbox.pending(100).await?;
        let fan_outs: Vec<_> = pending.iter().map(|event| fan_out(event, &endpoints)).collect();
        self.outbox.fan_out(&fan_outs, instant(0)).await
    }
}

impl<T> Killable<T> {
    async fn call<R>(&self, call: impl Future<Output = BackendResult<R>>) -> BackendResult<R> {
        self.step()?;
        let result = call.await?;
        self.step().map(|()| result)
    }

    fn step(&self) -> BackendResult<()> {
        let take = |steps: u32| steps.checked_sub(1);
        let steps = &self.steps;
        match steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(()),
            Err(_) => Err(BackendError::new("the worker was killed")),
        }
    }
}

#[async_trait]
impl PendingEventStore for Killable<Arc<dyn PendingEventStore>> {
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        self.call(self.inner.pending(limit)).await
    }

    async fn remove(&self, ids: &[EventId]) -> BackendResult<()> {
        self.call(self.inner.remove(ids)).await
    }
}

#[async_trait]
impl OutboxStore for Killable<Arc<dyn OutboxStore>> {
    async fn insert(&self, event: &Event) -> BackendResult<()> {
        self.call(self.inner.insert(event)).await
    }

    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        self.call(self.inner.pending(limit)).await
    }

    async fn quarantined(&self, limit: u32) -> BackendResult<Quarantine> {
        self.call(self.inner.quarantined(limit)).await
    }

    async fn find(&self, id: &EventId) -> BackendResult<Option<StoredEvent>> {
        self.call(self.inner.find(id)).await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        self.call(self.inner.fan_out(events, now)).await
    }
}

fn ids_of_deliveries(event: &Event, endpoints: &[Endpoint]) -> Vec<DeliveryId> {
    let id = |endpoint: &Endpoint| DeliveryId::derive(&event.id, &endpoint.id);
    endpoints.iter().map(id).collect()
}

impl StoreFixture {
    /// Expects exactly the deliveries with these ids.
    async fn expect_deliveries(&self, expected: &BTreeSet<DeliveryId>, after: &str) -> TestResult {
        let all = with(DeliveryFilter::default(), |filter| filter.limit = 1_000);
        let listed = self.webhooks.deliveries.list(&all).await?;
        let count = listed.len();
        let ids: BTreeSet<_> = listed.into_iter().map(|(delivery, _)| delivery.id).collect();
        check_eq!(&ids, expected, "the deliveries after {after}")?;
        check_eq!(count, expected.len(), "their number after {after}")
    }
}
