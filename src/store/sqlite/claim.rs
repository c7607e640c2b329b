//! Claim of deliveries: scans the index of pending deliveries, one endpoint at a time.

use std::collections::HashMap;

use rusqlite::{Connection, Result, Row, params};

use super::endpoints::all_endpoints;
use super::execute::{all, changes, first};
use super::rows::read_delivery;
use crate::model::{EndpointId, Timestamp};
use crate::store::{ClaimBatch, ClaimRequest, ClaimedDelivery, decode_event};
use crate::webhook::Endpoint;

pub(super) const PENDING: &str = "
    SELECT due_at, id, rowid FROM forum_api_deliveries
    WHERE endpoint = ?1 AND due_at IS NOT NULL ORDER BY due_at, id LIMIT ?2";

pub(super) const CLAIMABLE: &str = include_str!("sql/claimable.sql");
pub(super) const LEASE: &str = include_str!("sql/acquire_lease.sql");

/// Deliveries that a claim leases unless they change.
pub(super) struct ClaimableRows {
    rows: Vec<ClaimableRow>,
    pub(super) next_due_at: Option<Timestamp>,
}

struct ClaimableRow {
    number: i64,
    id: Vec<u8>,
    lease_id: i64,
    /// The delivery, or the reason why it cannot be decoded.
    claimed: std::result::Result<ClaimedDelivery, String>,
}

impl ClaimableRows {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Finds the deliveries that a claim would lease. Writes nothing.
pub(super) fn find_claimable(
    connection: &Connection,
    request: &ClaimRequest,
    now: Timestamp,
) -> Result<ClaimableRows> {
    let mut endpoints = all_endpoints(connection)?;
    endpoints.retain(|endpoint| endpoint.enabled);
    let (mut pending, mut failing) = (Vec::new(), Vec::new());
    for endpoint in &endpoints {
        let first = params![endpoint.id, request.capacity_for(&endpoint.id)];
        let positions = all(connection, PENDING, first, read_position)?;
        match endpoint.failing_since {
            None => pending.extend(positions),
            Some(_) => failing.extend(positions),
        }
    }
    let (claimable, next_due_at) = request.pick(pending, failing, now);
    let by_id = |endpoint: Endpoint| (endpoint.id.clone(), endpoint);
    let endpoints = endpoints.into_iter().map(by_id).collect();
    let until = now.saturating_add(request.lease_duration);
    let mut rows = Vec::new();
    for (_, number) in claimable {
        let read = |row: &Row<'_>| read_claimable(row, &endpoints, until);
        rows.extend(first(connection, CLAIMABLE, [number], read)?);
    }
    Ok(ClaimableRows { rows, next_due_at })
}

/// Id of a delivery that cannot be decoded, and the reason.
pub(super) type Unreadable = (Vec<u8>, String);

/// Leases the deliveries that did not change since they were found.
///
/// A delivery that cannot be decoded is leased as well, so that the next claim does not select it. It is not returned
/// as a claimed delivery.
pub(super) fn acquire_leases(
    connection: &Connection,
    found: ClaimableRows,
    now: Timestamp,
    until: Timestamp,
) -> Result<(ClaimBatch, Vec<Unreadable>)> {
    let mut unreadable = Vec::new();
    let mut batch = ClaimBatch {
        deliveries: Vec::new(),
        next_due_at: found.next_due_at,
    };
    for row in found.rows {
        let lease = params![row.number, row.lease_id, until, row.id];
        if !changes(connection, LEASE, lease)? {
            batch.next_due_at = Some(now);
            continue;
        }
        match row.claimed {
            Ok(claimed) => batch.deliveries.push(claimed),
            Err(reason) => {
                // The unreadable delivery counts towards the limit, so another delivery may be due.
                batch.next_due_at = Some(now);
                unreadable.push((row.id, reason));
            }
        }
    }
    Ok((batch, unreadable))
}

/// Reads due time, id and number of a delivery.
fn read_position(row: &Row<'_>) -> Result<(Timestamp, (Vec<u8>, i64))> {
    let id = row.get_ref("id")?.as_bytes()?.to_vec();
    Ok((row.get("due_at")?, (id, row.get("rowid")?)))
}

fn read_claimable(
    row: &Row<'_>,
    endpoints: &HashMap<EndpointId, Endpoint>,
    until: Timestamp,
) -> Result<ClaimableRow> {
    let lease_id = row.get::<_, i64>("lease")? + 1;
    Ok(ClaimableRow {
        number: row.get("number")?,
        id: row.get_ref("id")?.as_bytes()?.to_vec(),
        lease_id,
        claimed: read_claimed(row, endpoints, lease_id, until),
    })
}

fn read_claimed(
    row: &Row<'_>,
    endpoints: &HashMap<EndpointId, Endpoint>,
    lease_id: i64,
    lease_expires_at: Timestamp,
) -> std::result::Result<ClaimedDelivery, String> {
    let delivery = read_delivery(row).map_err(|error| error.to_string())?;
    let columns = || -> Result<_> {
        Ok((
            row.get("occurred_at")?,
            row.get_ref("forum")?.as_str_or_null()?,
            row.get_ref("body")?.as_str()?,
            row.get("sending")?,
        ))
    };
    let (occurred_at, forum, body, sending) = columns().map_err(|error| error.to_string())?;
    let (id, topic) = (delivery.event_id.to_string(), delivery.topic.as_str());
    let event = decode_event(&id, topic, occurred_at, forum, body)?;
    let endpoint = endpoints.get(&delivery.endpoint_id);
    Ok(ClaimedDelivery {
        endpoint: endpoint.ok_or("the endpoint is malformed")?.clone(),
        delivery,
        event,
        previous_lease_expired: sending,
        lease_id,
        lease_expires_at,
    })
}
