//! Tables of events, endpoints and deliveries, behind one lock.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Mutex;

use super::MemoryAuditStore;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::store::{
    DeliveryFilter, LastDelivery, LibraryStore, MAX_STORED_ATTEMPTS, Settlement,
    retention_starts_at,
};
use crate::webhook::{AttemptRecord, Delivery, DeliveryProgress, Endpoint, Event, KeyId};

/// Events, endpoints and deliveries in maps, for one process.
#[derive(Debug, Default)]
pub(crate) struct MemoryWebhookStore(pub(super) Mutex<WebhookTables>);

impl LibraryStore for MemoryWebhookStore {}

impl MemoryWebhookStore {
    /// Creates a store that writes to the audit log `audit`. The store of `default()` has its own log.
    pub(crate) fn new(audit: MemoryAuditStore) -> Self {
        Self(Mutex::new(WebhookTables {
            audit,
            ..WebhookTables::default()
        }))
    }
}

/// The tables. Deliveries of a removed endpoint stay until they are swept.
#[derive(Debug, Default)]
pub(super) struct WebhookTables {
    pub(super) events: EventTable,
    pub(super) endpoints: Vec<Endpoint>,
    /// Id of the key that encrypts the secrets.
    pub(super) key: Option<KeyId>,
    pub(super) rows: DeliveryTable,
    pub(super) audit: MemoryAuditStore,
}

impl WebhookTables {
    pub(super) fn endpoint(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.id == *id)
    }

    /// Replaces the endpoint with the same version. Returns `false` if that version is not stored.
    pub(super) fn replace(&mut self, endpoint: &Endpoint) -> bool {
        let mut all = self.endpoints.iter_mut();
        let former = all.find(|one| one.id == endpoint.id && one.version == endpoint.version);
        let successor = |former: &Endpoint| {
            let is_reset = endpoint.enabled && !former.enabled;
            Endpoint {
                version: endpoint.version + 1,
                failing_since: former.failing_since.filter(|_| !is_reset),
                auto_disabled: former.auto_disabled && !is_reset,
                ..endpoint.clone()
            }
        };
        former.map(|former| *former = successor(former)).is_some()
    }

    pub(super) fn enabled_endpoint(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.endpoint(id).filter(|endpoint| endpoint.enabled)
    }

    /// Returns the delivery, unless its endpoint was removed.
    pub(super) fn row(&self, id: &DeliveryId) -> Option<&DeliveryRow> {
        let row = self.rows.get(id)?;
        self.endpoint(&row.delivery.endpoint_id).map(|_| row)
    }

    /// Queues a delivery, unless it was queued before.
    pub(super) fn enqueue(
        &mut self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> DeliveryId {
        let id = DeliveryId::derive(&event.id, endpoint);
        if self.rows.get(&id).is_none() {
            let row = DeliveryRow::queued(id.clone(), event, endpoint, now);
            self.rows.insert(row);
            self.events.add_delivery(&event.id);
        }
        id
    }

    pub(super) fn remove(&mut self, id: &DeliveryId) {
        if let Some(row) = self.rows.remove(id) {
            self.events.remove_delivery(&row.delivery.event_id);
        }
    }
}

/// Events that are pending or have deliveries.
#[derive(Debug, Default)]
pub(super) struct EventTable {
    events: HashMap<EventId, EventRow>,
    pending: BTreeSet<EventPosition>,
    /// Number of events that were inserted.
    count: u64,
}

/// Position of a pending event: time, and number for events with the same time.
type EventPosition = (Timestamp, u64, EventId);

#[derive(Debug)]
struct EventRow {
    event: Event,
    /// Number of events that were inserted before.
    number: u64,
    /// Number of deliveries.
    deliveries: usize,
}

impl EventRow {
    fn position(&self) -> EventPosition {
        (self.event.occurred_at, self.number, self.event.id.clone())
    }
}

impl EventTable {
    /// Inserts a pending event, unless it is stored.
    pub(super) fn insert_pending(&mut self, event: &Event) {
        if self.insert(event) {
            let position = self.events.get(&event.id).map(EventRow::position);
            self.pending.extend(position);
        }
    }

    /// Inserts an event that is not pending. Returns `false` if it is stored.
    pub(super) fn insert(&mut self, event: &Event) -> bool {
        let is_new = !self.events.contains_key(&event.id);
        if is_new {
            let entry = EventRow {
                event: event.clone(),
                number: self.count,
                deliveries: 0,
            };
            self.count += 1;
            self.events.insert(event.id.clone(), entry);
        }
        is_new
    }

    pub(super) fn get(&self, id: &EventId) -> Option<&Event> {
        self.events.get(id).map(|entry| &entry.event)
    }

    /// Returns the pending events, oldest first.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Event> {
        self.pending.iter().filter_map(|(.., id)| self.get(id))
    }

    /// Marks a pending event as fanned out, and returns it.
    pub(super) fn take_pending(&mut self, id: &EventId) -> Option<Event> {
        let entry = self.events.get(id)?;
        let was_pending = self.pending.remove(&entry.position());
        was_pending.then(|| entry.event.clone())
    }

    pub(super) fn add_delivery(&mut self, id: &EventId) {
        if let Some(entry) = self.events.get_mut(id) {
            entry.deliveries += 1;
        }
    }

    pub(super) fn remove_delivery(&mut self, id: &EventId) {
        if let Some(entry) = self.events.get_mut(id) {
            entry.deliveries -= 1;
        }
        self.remove_unused(id);
    }

    /// Removes the event if it is not pending and has no deliveries.
    pub(super) fn remove_unused(&mut self, id: &EventId) {
        let is_unused =
            |entry: &EventRow| entry.deliveries == 0 && !self.pending.contains(&entry.position());
        if self.events.get(id).is_some_and(is_unused) {
            self.events.remove(id);
        }
    }
}

/// A delivery with its attempts and its lease.
#[derive(Clone, Debug)]
pub(super) struct DeliveryRow {
    pub(super) delivery: Delivery,
    /// Time at which it was delivered, gone or withheld.
    pub(super) ended_at: Option<Timestamp>,
    pub(super) attempts: VecDeque<AttemptRecord>,
    /// Id of the last lease, incremented with each change of the lease.
    pub(super) lease_id: i64,
    /// `true` from a claim until its settlement or release. The lease expires at `due_at`.
    pub(super) leased: bool,
    /// `true` if sending began under a lease that was not settled.
    pub(super) sending: bool,
}

impl DeliveryRow {
    pub(super) fn queued(
        id: DeliveryId,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Self {
        Self {
            delivery: Delivery {
                id,
                event_id: event.id.clone(),
                topic: event.topic.clone(),
                endpoint_id: endpoint.clone(),
                created_at: now,
                progress: DeliveryProgress::queued(now),
            },
            ended_at: None,
            attempts: VecDeque::new(),
            lease_id: 0,
            leased: false,
            sending: false,
        }
    }

    pub(super) fn take_lease(&mut self, until: Timestamp) {
        self.lease_id += 1;
        self.leased = true;
        self.delivery.progress.due_at = Some(until);
    }

    pub(super) fn release(&mut self, lease_expired: bool, due_at: Timestamp) {
        self.lease_id += 1;
        self.leased = false;
        self.sending = lease_expired;
        self.delivery.progress.due_at = Some(due_at);
    }

    pub(super) fn settle(&mut self, settlement: &Settlement, now: Timestamp) {
        self.lease_id += 1;
        self.leased = false;
        self.sending = false;
        self.ended_at = retention_starts_at(&settlement.progress, now);
        self.delivery.progress = settlement.progress;
        self.attempts.extend(settlement.attempt.clone());
        let excess = self
            .attempts
            .len()
            .saturating_sub(MAX_STORED_ATTEMPTS as usize);
        self.attempts.drain(..excess);
    }

    pub(super) fn retry(&mut self, progress: DeliveryProgress) {
        self.ended_at = None;
        self.delivery.progress = progress;
    }

    /// Returns `true` if it has a lease that has not expired.
    pub(super) fn is_leased(&self, now: Timestamp) -> bool {
        self.leased && self.delivery.progress.due_at.is_some_and(|due| now < due)
    }

    /// Returns the delivery with its last attempt; `None` if it has no attempt.
    pub(super) fn last_delivery(&self) -> Option<LastDelivery> {
        let attempt = self.attempts.back()?;
        Some(LastDelivery {
            id: self.delivery.id.clone(),
            state: self.delivery.progress.state,
            attempted_at: attempt.started_at,
            status: attempt.status,
        })
    }

    /// Returns `true` if the filter selects the delivery, regardless of the position of the page.
    pub(super) fn matches(&self, filter: &DeliveryFilter) -> bool {
        let Delivery {
            progress,
            topic,
            endpoint_id,
            created_at,
            ..
        } = &self.delivery;
        let status = self.attempts.back().and_then(|attempt| attempt.status);
        let class = filter.status_class();
        filter.states().contains(&progress.state)
            && class.is_none_or(|class| class.cast_unsigned() == status.unwrap_or_default() / 100)
            && filter.since.is_none_or(|since| since <= *created_at)
            && filter.before.is_none_or(|before| *created_at < before)
            && filter.topic.as_ref().is_none_or(|one| one == topic)
            && filter
                .endpoint_id
                .as_ref()
                .is_none_or(|one| one == endpoint_id)
    }
}

/// Position of a delivery in an order by time.
type Position = (Timestamp, DeliveryId);

/// Deliveries by id, with the orders of lists and claims.
#[derive(Debug, Default)]
pub(super) struct DeliveryTable {
    all: HashMap<DeliveryId, DeliveryRow>,
    created: BTreeSet<Position>,
    due: HashMap<EndpointId, BTreeSet<Position>>,
}

impl DeliveryTable {
    pub(super) fn get(&self, id: &DeliveryId) -> Option<&DeliveryRow> {
        self.all.get(id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &DeliveryRow> {
        self.all.values()
    }

    /// Inserts a row that is not stored.
    pub(super) fn insert(&mut self, row: DeliveryRow) {
        let Delivery {
            id,
            endpoint_id,
            created_at,
            progress,
            ..
        } = &row.delivery;
        self.created.insert((*created_at, id.clone()));
        if let Some(due_at) = progress.due_at {
            let due = self.due.entry(endpoint_id.clone()).or_default();
            due.insert((due_at, id.clone()));
        }
        self.all.insert(id.clone(), row);
    }

    pub(super) fn remove(&mut self, id: &DeliveryId) -> Option<DeliveryRow> {
        let row = self.all.remove(id)?;
        self.created.remove(&(row.delivery.created_at, id.clone()));
        if let Some(due_at) = row.delivery.progress.due_at
            && let Some(due) = self.due.get_mut(&row.delivery.endpoint_id)
        {
            due.remove(&(due_at, id.clone()));
            if due.is_empty() {
                self.due.remove(&row.delivery.endpoint_id);
            }
        }
        Some(row)
    }

    /// Changes the row, if it is stored.
    pub(super) fn change(&mut self, id: &DeliveryId, change: impl FnOnce(&mut DeliveryRow)) {
        if let Some(mut row) = self.remove(id) {
            change(&mut row);
            self.insert(row);
        }
    }

    /// Returns the first `limit` pending deliveries of the endpoint, the oldest due first.
    pub(super) fn pending(
        &self,
        endpoint: &EndpointId,
        limit: u32,
    ) -> impl Iterator<Item = Position> {
        let due = self.due.get(endpoint).into_iter().flatten();
        due.take(limit as usize).cloned()
    }

    /// Returns the deliveries after the position `after`, newest first.
    pub(super) fn newest(&self, after: Option<&Position>) -> impl Iterator<Item = &DeliveryRow> {
        let end = after.map_or(Bound::Unbounded, Bound::Excluded);
        let newest = self.created.range((Bound::Unbounded, end)).rev();
        newest.filter_map(|(_, id)| self.get(id))
    }
}
