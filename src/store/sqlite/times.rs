//! Correction of times that a clock that was ahead wrote.

use rusqlite::{Connection, params};

use super::execute::{Result, change, first};
use crate::model::{CLOCK_TOLERANCE, Timestamp};

/// Maximum number of rows that one statement changes.
const BATCH: u32 = 500;

const DUE_TIMES: &str = "
    SELECT rowid FROM forum_api_deliveries WHERE due_at IS NOT NULL AND due_set_at > ?1 LIMIT ?2";

const ENDS: &str = "SELECT rowid FROM forum_api_deliveries WHERE ended_at > ?1 LIMIT ?2";

const DEATHS: &str = "
    SELECT rowid FROM forum_api_deliveries WHERE state = 'dead' AND created_at > ?1 LIMIT ?2";

const FAILURES: &str = "SELECT number FROM forum_api_endpoints WHERE failing_since > ?1 LIMIT ?2";

const REGISTRATIONS: &str = "SELECT number FROM forum_api_endpoints WHERE created_at > ?1 LIMIT ?2";

/// Sets registrations to a minute before `?3`, or before the earliest event that waits for its fan-out: until now, the
/// registration counted as reached, and the endpoint receives these events, also those of a clock that is a minute behind.
const REGISTER: &str = "
    UPDATE forum_api_endpoints SET created_at = min(?3, coalesce((
        SELECT min(occurred_at) FROM forum_api_events WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL
    ), ?3)) - 60000";

/// The statements that find rows, and what [`correct`] does with them.
const SEARCHES: [(&str, &str); 5] = [
    (DUE_TIMES, "UPDATE forum_api_deliveries SET due_set_at = ?3, due_at = ?3"),
    (ENDS, "UPDATE forum_api_deliveries SET ended_at = ?3"),
    (DEATHS, "UPDATE forum_api_deliveries SET created_at = ?3"),
    (FAILURES, "UPDATE forum_api_endpoints SET failing_since = ?3"),
    (REGISTRATIONS, REGISTER),
];

/// Returns whether a clock that was more than [`CLOCK_TOLERANCE`] ahead wrote one of these times.
pub(super) fn is_any_ahead(connection: &Connection, now: Timestamp) -> Result<bool> {
    let latest = now.saturating_add(CLOCK_TOLERANCE);
    for (find, _) in SEARCHES {
        if first(connection, find, params![latest, 1], |_| Ok(()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Corrects these times. Returns the number of changed rows.
pub(super) fn correct(connection: &Connection, now: Timestamp) -> Result<u64> {
    let latest = now.saturating_add(CLOCK_TOLERANCE);
    let mut corrected = 0;
    for (find, update) in SEARCHES {
        let update = format!("{update} WHERE rowid IN ({find})");
        corrected += change(connection, &update, params![latest, BATCH, now])? as u64;
    }
    Ok(corrected)
}
