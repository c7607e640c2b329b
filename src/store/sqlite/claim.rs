//! Claim of deliveries: scans the index of pending deliveries, one endpoint at a time.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::execute::{Result, all, changes, first};
use crate::driver_error::ColumnError;
use crate::model::{EndpointId, Timestamp};
use crate::store::sql::endpoints::ALL;
use crate::store::sql::{
    ColumnResult, Columns, read_claimed_event, read_delivery, read_endpoint, readable,
};
use crate::store::{ClaimBatch, ClaimRequest, ClaimedDelivery};
use crate::webhook::Endpoint;

const PENDING: &str = "
    SELECT due_at, id, rowid FROM forum_api_deliveries
    WHERE endpoint = ?1 AND due_at IS NOT NULL ORDER BY due_at, id LIMIT ?2";

const CLAIMABLE: &str = include_str!("sql/claimable.sql");
const LEASE: &str = include_str!("sql/acquire_lease.sql");

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
    let rows = all(connection, ALL, [], readable("endpoints", read_endpoint))?;
    let mut endpoints: Vec<_> = rows.into_iter().flatten().collect();
    endpoints.retain(|endpoint| endpoint.enabled);
    let mut pending = Vec::new();
    let mut impaired = Vec::new();
    for endpoint in &endpoints {
        let first = params![endpoint.id, request.capacity_for(&endpoint.id)];
        let positions = all(connection, PENDING, first, read_position)?;
        if endpoint.is_impaired() {
            impaired.extend(positions);
        } else {
            pending.extend(positions);
        }
    }
    let (claimable, next_due_at) = pick(request, pending, impaired, now);
    let by_id = |endpoint: Endpoint| (endpoint.id.clone(), endpoint);
    let endpoints = endpoints.into_iter().map(by_id).collect();
    let until = now.saturating_add(request.lease_duration);
    let mut rows = Vec::new();
    for (_, number) in claimable {
        let read = |row: &dyn Columns| read_claimable(row, &endpoints, until);
        rows.extend(first(connection, CLAIMABLE, [number], read)?);
    }
    Ok(ClaimableRows { rows, next_due_at })
}

/// Selects up to `limit` due deliveries, the oldest due first. `impaired` contains the pending deliveries of endpoints
/// whose last attempt failed or was slow, and `pending` those of the other endpoints. The lists contain at most as many
/// deliveries of an endpoint as it has capacity for.
/// Returns the keys of the selected deliveries, and the due time of the next pending delivery, or `None` if there is no
/// other delivery.
fn pick<K: Ord>(
    request: &ClaimRequest,
    mut pending: Vec<(Timestamp, K)>,
    mut impaired: Vec<(Timestamp, K)>,
    now: Timestamp,
) -> (Vec<K>, Option<Timestamp>) {
    impaired.sort_unstable();
    impaired.truncate(request.max_impaired as usize);
    pending.append(&mut impaired);
    pending.sort_unstable();
    let due = pending.partition_point(|(due_at, _)| *due_at <= now);
    let left = pending.split_off(due.min(request.limit as usize));
    let next = left.first().map(|(due_at, _)| *due_at);
    (pending.into_iter().map(|(_, key)| key).collect(), next)
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
    let mut batch = ClaimBatch { deliveries: Vec::new(), next_due_at: found.next_due_at };
    for row in found.rows {
        let lease = params![row.number, row.lease_id, until, row.id, now];
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
fn read_position(row: &dyn Columns) -> ColumnResult<(Timestamp, (Vec<u8>, i64))> {
    let due_at = row.value("due_at")?;
    Ok((due_at, (row.value("id")?, row.value("rowid")?)))
}

fn read_claimable(
    row: &dyn Columns,
    endpoints: &HashMap<EndpointId, Endpoint>,
    lease_expires_at: Timestamp,
) -> ColumnResult<ClaimableRow> {
    let lease_id = row.value::<i64>("lease")? + 1;
    let claimed = read_claimed(row, endpoints, lease_id, lease_expires_at);
    Ok(ClaimableRow {
        number: row.value("number")?,
        id: row.value("id")?,
        lease_id,
        claimed: claimed.map_err(|error| error.to_string()),
    })
}

fn read_claimed(
    row: &dyn Columns,
    endpoints: &HashMap<EndpointId, Endpoint>,
    lease_id: i64,
    lease_expires_at: Timestamp,
) -> ColumnResult<ClaimedDelivery> {
    let delivery = read_delivery(row)?;
    let endpoint = endpoints.get(&delivery.endpoint_id);
    let unreadable = || ColumnError::new("endpoint", "the endpoint is malformed");
    Ok(ClaimedDelivery {
        endpoint: endpoint.ok_or_else(unreadable)?.clone(),
        event: read_claimed_event(row, &delivery)?,
        delivery,
        previous_lease_expired: row.value("sending")?,
        lease_id,
        lease_expires_at,
    })
}
