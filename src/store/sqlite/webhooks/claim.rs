//! What a worker takes: a walk over the index of what is pending, an endpoint at a time.

use std::collections::HashMap;

use rusqlite::{Connection, Result, Row, params};

use super::deliveries::delivery;
use super::endpoints::every;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::sqlite::run::{all, change, first};
use crate::store::{Claim, Claimed, Claims};
use crate::webhook::{Endpoint, Event};

pub(super) const PENDING: &str = "
    SELECT due_at, id FROM forum_api_deliveries
    WHERE endpoint = ?1 AND due_at IS NOT NULL ORDER BY due_at, id LIMIT ?2";

pub(super) const TO_TAKE: &str = "
    SELECT delivery.*, event.occurred_at, event.forum, event.body
    FROM forum_api_deliveries delivery
    CROSS JOIN forum_api_events event ON event.id = delivery.event
    WHERE delivery.id = ?1";

pub(super) const LEASE: &str = "
    UPDATE forum_api_deliveries SET due_at = ?2, lease = lease + 1, leased = TRUE WHERE id = ?1";

/// What can be taken, and by whom it is to be received.
#[derive(Debug)]
pub(super) struct Picked {
    pub(super) taken: Vec<DeliveryId>,
    pub(super) next: Option<Timestamp>,
    endpoints: HashMap<EndpointId, Endpoint>,
}

/// Looks what a claim would take, and takes nothing.
pub(super) fn look(connection: &Connection, claim: &Claim, now: Timestamp) -> Result<Picked> {
    let mut endpoints = every(connection)?;
    endpoints.retain(|endpoint| endpoint.enabled);
    let mut pending = Vec::new();
    for endpoint in &endpoints {
        let first = params![endpoint.id, claim.room_at(&endpoint.id)];
        let due = |row: &Row<'_>| Ok((row.get("due_at")?, row.get("id")?));
        pending.extend(all(connection, PENDING, first, due)?);
    }
    let (taken, next) = claim.pick(pending, now);
    let by_id = |endpoint: Endpoint| (endpoint.id.clone(), endpoint);
    let endpoints = endpoints.into_iter().map(by_id).collect();
    Ok(Picked {
        taken,
        next,
        endpoints,
    })
}

/// Takes what there is now.
pub(super) fn take(connection: &Connection, claim: &Claim, now: Timestamp) -> Result<Claims> {
    let picked = look(connection, claim, now)?;
    let mut taken = Vec::new();
    for id in &picked.taken {
        let to_take = |row: &Row<'_>| claimed(row, &picked.endpoints);
        taken.extend(first(connection, TO_TAKE, [id], to_take)?.flatten());
        change(connection, LEASE, params![id, now.plus(claim.lease)])?;
    }
    Ok(Claims {
        taken,
        next: picked.next,
    })
}

fn claimed(row: &Row<'_>, endpoints: &HashMap<EndpointId, Endpoint>) -> Result<Option<Claimed>> {
    let delivery = delivery(row)?;
    let event = Event {
        id: delivery.event.clone(),
        topic: delivery.topic.clone(),
        occurred_at: row.get("occurred_at")?,
        forum: row.get("forum")?,
        body: row.get("body")?,
    };
    let (lease, leased) = (row.get::<_, i64>("lease")?, row.get("leased")?);
    let endpoint = endpoints.get(&delivery.endpoint);
    Ok(endpoint.map(|endpoint| Claimed {
        endpoint: endpoint.clone(),
        delivery,
        event,
        lease_expired: leased,
        lease: lease + 1,
    }))
}
