//! Deliveries in memory, and where each is found.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use super::row::Row;
use crate::model::{DeliveryId, EndpointId, Timestamp};

/// Where a delivery is in an order by time.
type Place = (Timestamp, DeliveryId);

/// Deliveries by their ids, and the orders in which they are walked.
#[derive(Debug, Default)]
pub(super) struct Rows {
    all: HashMap<DeliveryId, Row>,
    created: BTreeSet<Place>,
    ended: BTreeSet<Place>,
    by_endpoint: HashMap<EndpointId, Orders>,
}

/// The orders of one endpoint's deliveries.
#[derive(Debug, Default)]
struct Orders {
    created: BTreeSet<Place>,
    due: BTreeSet<Place>,
}

impl Rows {
    pub(super) fn get(&self, id: &DeliveryId) -> Option<&Row> {
        self.all.get(id)
    }

    /// Puts a row, which is not there, into every order.
    pub(super) fn put(&mut self, row: Row) {
        let (created, due, ended) = places(&row);
        let endpoint = row.delivery.endpoint.clone();
        let orders = self.by_endpoint.entry(endpoint).or_default();
        orders.created.insert(created.clone());
        orders.due.extend(due);
        self.ended.extend(ended);
        self.created.insert(created);
        self.all.insert(row.delivery.id.clone(), row);
    }

    /// Takes a row out of every order.
    pub(super) fn take(&mut self, id: &DeliveryId) -> Option<Row> {
        let row = self.all.remove(id)?;
        let (created, due, ended) = places(&row);
        self.created.remove(&created);
        ended.map(|ended| self.ended.remove(&ended));
        let endpoint = &row.delivery.endpoint;
        if let Some(orders) = self.by_endpoint.get_mut(endpoint) {
            orders.created.remove(&created);
            due.map(|due| orders.due.remove(&due));
            if orders.created.is_empty() {
                self.by_endpoint.remove(endpoint);
            }
        }
        Some(row)
    }

    /// Changes the row, if it is there.
    pub(super) fn change(&mut self, id: &DeliveryId, change: impl FnOnce(&mut Row)) {
        if let Some(mut row) = self.take(id) {
            change(&mut row);
            self.put(row);
        }
    }

    /// The first `limit` that are pending at the endpoint, the oldest due first.
    pub(super) fn due(&self, endpoint: &EndpointId, limit: u32) -> impl Iterator<Item = Place> {
        let orders = self.by_endpoint.get(endpoint);
        let due = orders.into_iter().flat_map(|orders| &orders.due);
        due.take(limit as usize).cloned()
    }

    /// The endpoint's, or all, from behind `after`, the newest first.
    pub(super) fn newest(
        &self,
        endpoint: Option<&EndpointId>,
        after: Option<&Place>,
    ) -> impl Iterator<Item = &Row> {
        let of = |endpoint| self.by_endpoint.get(endpoint).map(|orders| &orders.created);
        let places = endpoint.map_or(Some(&self.created), of);
        let end = after.map_or(Bound::Unbounded, Bound::Excluded);
        let walk = places.map(|places| places.range((Bound::Unbounded, end)).rev());
        walk.into_iter()
            .flatten()
            .filter_map(|(_, id)| self.get(id))
    }

    /// Those that had ended before `before`, the oldest first.
    pub(super) fn ended(&self, before: Timestamp) -> impl Iterator<Item = &DeliveryId> {
        let ended = self.ended.iter().take_while(move |(at, _)| *at < before);
        ended.map(|(_, id)| id)
    }

    /// Those of endpoints that are not there any more.
    pub(super) fn left_behind(
        &self,
        is_there: impl Fn(&EndpointId) -> bool,
    ) -> impl Iterator<Item = &DeliveryId> {
        let orders = self.by_endpoint.iter();
        let removed = orders.filter(move |(endpoint, _)| !is_there(endpoint));
        removed.flat_map(|(_, orders)| orders.created.iter().map(|(_, id)| id))
    }

    /// Whether there are any of this endpoint's.
    pub(super) fn has(&self, endpoint: &EndpointId) -> bool {
        self.by_endpoint.contains_key(endpoint)
    }
}

/// Where it is in the orders by creation, by what is due, and by end.
fn places(row: &Row) -> (Place, Option<Place>, Option<Place>) {
    let delivery = &row.delivery;
    let place = |at| (at, delivery.id.clone());
    (
        place(delivery.created_at),
        delivery.progress.due_at.map(place),
        row.ended_at.map(place),
    )
}
