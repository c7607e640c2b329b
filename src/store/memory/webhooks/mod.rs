//! Webhooks in memory: events, endpoints and deliveries behind one lock.

mod deliveries;
mod endpoints;
mod events;
mod outbox;
mod row;
mod rows;

use std::sync::Mutex;

use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::webhook::{Endpoint, Event, KeyId};
use events::Events;
use row::Row;
use rows::Rows;

/// Events, endpoints and deliveries in maps.
#[derive(Debug, Default)]
pub struct MemoryWebhooks(Mutex<Kept>);

/// All that is kept. What a removed endpoint left is among the rows until it is swept.
#[derive(Debug, Default)]
struct Kept {
    events: Events,
    endpoints: Vec<Endpoint>,
    /// The key that encrypts the secrets.
    key: Option<KeyId>,
    rows: Rows,
}

impl Kept {
    fn endpoint(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.id == *id)
    }

    /// Puts the endpoint in the place of its former self of the same version; `false` when that is not stored.
    fn replace(&mut self, endpoint: &Endpoint) -> bool {
        let mut all = self.endpoints.iter_mut();
        let former = all.find(|one| one.id == endpoint.id && one.version == endpoint.version);
        let successor = || Endpoint {
            version: endpoint.version + 1,
            ..endpoint.clone()
        };
        former.map(|former| *former = successor()).is_some()
    }

    /// The endpoint, if it may be told of anything now.
    fn enabled(&self, id: &EndpointId) -> Option<&Endpoint> {
        self.endpoint(id).filter(|endpoint| endpoint.enabled)
    }

    /// The delivery, unless its endpoint was removed.
    fn row(&self, id: &DeliveryId) -> Option<&Row> {
        let row = self.rows.get(id)?;
        self.endpoint(&row.delivery.endpoint).map(|_| row)
    }

    /// Queues the event for the endpoint, unless it was already.
    fn queue(&mut self, event: &Event, endpoint: &EndpointId, now: Timestamp) -> DeliveryId {
        let id = DeliveryId::of(&event.id, endpoint);
        if self.rows.get(&id).is_none() {
            let row = Row::queued(id.clone(), event, endpoint, now);
            self.rows.put(row);
            self.events.need(&event.id);
        }
        id
    }

    fn remove(&mut self, id: &DeliveryId) {
        if let Some(row) = self.rows.take(id) {
            self.events.leave(&row.delivery.event);
        }
    }
}
