//! What a worker takes: a walk over the index of what is pending, an endpoint at a time.

use std::collections::HashMap;

use rusqlite::{Connection, Result, Row, params};

use super::deliveries::delivery;
use super::endpoints::every;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::sqlite::run::{all, changes, first};
use crate::store::{Claim, Claimed, Claims};
use crate::webhook::{Endpoint, Event};

pub(super) const PENDING: &str = "
    SELECT due_at, id, rowid FROM forum_api_deliveries
    WHERE endpoint = ?1 AND due_at IS NOT NULL ORDER BY due_at, id LIMIT ?2";

pub(super) const TO_TAKE: &str = "
    SELECT delivery.*, event.occurred_at, event.forum, event.body
    FROM forum_api_deliveries delivery
    CROSS JOIN forum_api_events event ON event.id = delivery.event
    WHERE delivery.rowid = ?1";

/// Whatever else is done to a pending delivery changes its lease.
pub(super) const LEASE: &str = "
    UPDATE forum_api_deliveries SET due_at = ?3, lease = lease + 1, leased = TRUE
    WHERE id = ?1 AND lease + 1 = ?2
        AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint AND enabled)";

/// What a claim would take: nothing is written.
pub(super) fn look(connection: &Connection, claim: &Claim, now: Timestamp) -> Result<Claims> {
    let mut endpoints = every(connection)?;
    endpoints.retain(|endpoint| endpoint.enabled);
    let mut pending = Vec::new();
    for endpoint in &endpoints {
        let first = params![endpoint.id, claim.room_at(&endpoint.id)];
        pending.extend(all(connection, PENDING, first, place)?);
    }
    let (to_take, next) = claim.pick(pending, now);
    let by_id = |endpoint: Endpoint| (endpoint.id.clone(), endpoint);
    let endpoints = endpoints.into_iter().map(by_id).collect();
    let mut taken = Vec::new();
    for (_, number) in to_take {
        let to_take = |row: &Row<'_>| claimed(row, &endpoints);
        taken.extend(first(connection, TO_TAKE, [number], to_take)?.flatten());
    }
    Ok(Claims { taken, next })
}

/// Takes what is as it was when somebody looked. Where another was faster, there may be more that is due by `now`.
pub(super) fn take(
    connection: &Connection,
    looked: Claims,
    now: Timestamp,
    until: Timestamp,
) -> Result<Claims> {
    let mut claims = Claims {
        taken: Vec::new(),
        next: looked.next,
    };
    for claimed in looked.taken {
        let lease = params![claimed.delivery.id, claimed.lease, until];
        if changes(connection, LEASE, lease)? {
            claims.taken.push(claimed);
        } else {
            claims.next = Some(now);
        }
    }
    Ok(claims)
}

/// Where a delivery is among those that wait, and its number.
fn place(row: &Row<'_>) -> Result<(Timestamp, (DeliveryId, i64))> {
    Ok((row.get("due_at")?, (row.get("id")?, row.get("rowid")?)))
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
