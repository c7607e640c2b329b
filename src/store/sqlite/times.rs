//! Correction of times that a clock that was ahead wrote.

use rusqlite::{Connection, params};

use super::execute::{Result, change, first};
use crate::model::{CLOCK_TOLERANCE, Timestamp};
use crate::store::DueTimeLimits;

/// Maximum number of rows that one statement changes.
const BATCH: u32 = 500;

const DELAYS: &str = "
    SELECT delivery.rowid FROM forum_api_endpoints endpoint
    CROSS JOIN forum_api_deliveries delivery ON delivery.endpoint = endpoint.id
    WHERE delivery.due_at > ?1 AND NOT delivery.leased LIMIT ?2";

const LEASES: &str = "SELECT rowid FROM forum_api_deliveries WHERE leased AND due_at > ?1 LIMIT ?2";

const ENDS: &str = "SELECT rowid FROM forum_api_deliveries WHERE ended_at > ?1 LIMIT ?2";

const DEATHS: &str = "
    SELECT rowid FROM forum_api_deliveries WHERE state = 'dead' AND created_at > ?1 LIMIT ?2";

const FAILURES: &str = "SELECT number FROM forum_api_endpoints WHERE failing_since > ?1 LIMIT ?2";

/// Returns the statements that find rows, the column that [`correct`] sets in each, and the latest correct value.
fn searches(limits: DueTimeLimits, now: Timestamp) -> [(&'static str, &'static str, Timestamp); 5] {
    let limits = limits.with_tolerance();
    let past = now.saturating_add(CLOCK_TOLERANCE);
    [
        (DELAYS, "forum_api_deliveries SET due_at", now.saturating_add(limits.delay)),
        (LEASES, "forum_api_deliveries SET due_at", now.saturating_add(limits.lease)),
        (ENDS, "forum_api_deliveries SET ended_at", past),
        (DEATHS, "forum_api_deliveries SET created_at", past),
        (FAILURES, "forum_api_endpoints SET failing_since", past),
    ]
}

/// Returns whether a time is further ahead than a correct clock writes.
pub(super) fn is_any_ahead(
    connection: &Connection,
    limits: DueTimeLimits,
    now: Timestamp,
) -> Result<bool> {
    for (find, _, latest) in searches(limits, now) {
        if first(connection, find, params![latest, 1], |_| Ok(()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sets these times to `now`. Returns their number.
pub(super) fn correct(
    connection: &Connection,
    limits: DueTimeLimits,
    now: Timestamp,
) -> Result<u64> {
    let mut corrected = 0;
    for (find, column, latest) in searches(limits, now) {
        let update = format!("UPDATE {column} = ?3 WHERE rowid IN ({find})");
        corrected += change(connection, &update, params![latest, BATCH, now])? as u64;
    }
    Ok(corrected)
}
