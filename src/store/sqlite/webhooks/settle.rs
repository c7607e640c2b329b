//! How a lease ends, and how a delivery is queued again.

use std::collections::HashSet;

use rusqlite::{Connection, Result, params};

use super::deliveries::find;
use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::sqlite::run::{change, changes, first};
use crate::store::{ATTEMPTS_KEPT, Claimed, Settlement, ended_at};
use crate::webhook::{Attempted, Progress, State};

/// Condition that the lease is in force and has not expired.
pub(super) const BEGIN_SENDING: &str = "
    UPDATE forum_api_deliveries SET sending = TRUE
    WHERE id = ?1 AND lease = ?2 AND leased AND due_at > ?3
        AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)";

/// Where the lease is in force; what a removed endpoint left is away.
pub(super) const SETTLE: &str = "
    UPDATE forum_api_deliveries
    SET state = ?3, attempts = ?4, due_at = ?5, ended_at = ?6, lease = lease + 1, leased = FALSE, sending = FALSE
    WHERE id = ?1 AND lease = ?2
        AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)";

pub(super) const RELEASE: &str = "
    UPDATE forum_api_deliveries SET due_at = ?3, lease = lease + 1, leased = FALSE, sending = ?4
    WHERE id = ?1 AND lease = ?2";

pub(super) const RETRY: &str = "
    UPDATE forum_api_deliveries SET state = ?2, attempts = ?3, due_at = ?4, ended_at = NULL
    WHERE id = ?1 AND NOT (leased AND due_at > ?5)";

pub(super) const RETRY_DEAD: &str = "
    UPDATE forum_api_deliveries SET state = ?2, attempts = ?3, due_at = ?4, ended_at = NULL
    WHERE rowid IN (
        SELECT rowid FROM forum_api_deliveries WHERE endpoint = ?1 AND state = ?5 ORDER BY created_at, id LIMIT ?6
    ) AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = ?1)";

pub(super) const LOG: &str = "
    INSERT INTO forum_api_attempts (delivery, number, attempt, at, status, error, duration_ms, answer)
    SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7
    FROM forum_api_attempts WHERE delivery = ?1
    RETURNING number";

pub(super) const FORGET: &str =
    "DELETE FROM forum_api_attempts WHERE delivery = ?1 AND number <= ?2";

/// The deliveries whose lease is in force.
pub(super) fn begin_sending(
    connection: &Connection,
    leases: &[(DeliveryId, i64)],
    now: Timestamp,
) -> Result<HashSet<DeliveryId>> {
    let mut begun = HashSet::new();
    for (id, lease) in leases {
        if changes(connection, BEGIN_SENDING, params![id, lease, now])? {
            begun.insert(id.clone());
        }
    }
    Ok(begun)
}

/// Those of which the lease was in force.
pub(super) fn settle(
    connection: &Connection,
    settlements: &[Settlement],
    now: Timestamp,
) -> Result<HashSet<DeliveryId>> {
    let mut settled = HashSet::new();
    for settlement in settlements {
        if end(connection, settlement, now)? {
            settled.insert(settlement.delivery.clone());
        }
    }
    Ok(settled)
}

fn end(connection: &Connection, settlement: &Settlement, now: Timestamp) -> Result<bool> {
    let Settlement {
        delivery,
        lease,
        progress,
        attempted,
    } = settlement;
    let row = params![
        delivery,
        lease,
        progress.state,
        progress.attempts,
        progress.due_at,
        ended_at(progress, now),
    ];
    let settled = changes(connection, SETTLE, row)?;
    if let Some(attempted) = attempted.as_ref().filter(|_| settled) {
        log(connection, delivery, attempted)?;
    }
    Ok(settled)
}

fn log(connection: &Connection, id: &DeliveryId, attempted: &Attempted) -> Result<()> {
    let duration_ms = i64::try_from(attempted.duration_ms).unwrap_or(i64::MAX);
    let row = params![
        id,
        attempted.attempt,
        attempted.at,
        attempted.status,
        attempted.error,
        duration_ms,
        attempted.answer,
    ];
    let number: Option<i64> = first(connection, LOG, row, |row| row.get("number"))?;
    let too_old = number.map(|number| number - i64::from(ATTEMPTS_KEPT));
    if let Some(too_old) = too_old.filter(|number| *number > 0) {
        change(connection, FORGET, params![id, too_old])?;
    }
    Ok(())
}

pub(super) fn release(connection: &Connection, claimed: &Claimed, due_at: Timestamp) -> Result<()> {
    let id = &claimed.delivery.id;
    let row = params![id, claimed.lease, due_at, claimed.lease_expired];
    change(connection, RELEASE, row).map(drop)
}

pub(super) fn retry(connection: &Connection, id: &DeliveryId, now: Timestamp) -> Result<bool> {
    let found = find(connection, id)?;
    let Some(progress) = found.and_then(|delivery| delivery.progress.retried(now)) else {
        return Ok(false);
    };
    let row = params![id, progress.state, progress.attempts, progress.due_at, now];
    changes(connection, RETRY, row)
}

pub(super) fn retry_dead(
    connection: &Connection,
    endpoint: &EndpointId,
    now: Timestamp,
    limit: u32,
) -> Result<u64> {
    let progress = Progress::queued(now);
    let row = params![
        endpoint,
        progress.state,
        progress.attempts,
        progress.due_at,
        State::Dead,
        limit,
    ];
    Ok(change(connection, RETRY_DEAD, row)? as u64)
}
