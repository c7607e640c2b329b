//! Lists and statistics of deliveries.

use rusqlite::{Connection, Result, Row, params};

use super::execute::all;
use super::rows::RowReader;
use crate::model::Timestamp;
use crate::store::{DeliveryCount, DeliveryFilter, DeliveryStats};
use crate::webhook::DeliveryState;

pub(super) const DELIVERY_COUNTS: &str = include_str!("sql/delivery_counts.sql");
pub(super) const ENDPOINT_STATS: &str = include_str!("sql/endpoint_stats.sql");
pub(super) const ATTEMPT_DURATIONS: &str = include_str!("sql/attempt_durations.sql");

/// Condition on the first digit of the status of the last attempt.
const HAS_STATUS_CLASS: &str = "coalesce((
                SELECT status FROM forum_api_attempts WHERE delivery = forum_api_deliveries.id ORDER BY number DESC LIMIT 1
            ) / 100, 0) = ?7";

/// Returns the statement that lists the deliveries that `filter` selects, newest first.
///
/// The indexes are ordered by time within each state, so the statement merges one scan for each state that the filter
/// selects. A filter selects at least one state. The parameters are the same for each filter: position before the first
/// delivery, limit, endpoint, topic, beginning of the period, and first digit of the status.
pub(super) fn list_statement(filter: &DeliveryFilter) -> String {
    let scans = filter.states().into_iter().map(|state| scan(filter, state));
    let scans: Vec<_> = scans.collect();
    format!(
        "{} ORDER BY created_at DESC, id DESC LIMIT ?3",
        scans.join(" UNION ALL ")
    )
}

/// Selects the newest deliveries of one state.
fn scan(filter: &DeliveryFilter, state: DeliveryState) -> String {
    let conditions = [
        condition_if("(created_at, id) < (?1, ?2)", 1, filter.start().is_some()),
        condition_if("endpoint = ?4", 4, filter.endpoint_id.is_some()),
        condition_if("topic = ?5", 5, filter.topic.is_some()),
        condition_if("created_at >= ?6", 6, filter.since.is_some()),
        condition_if(HAS_STATUS_CLASS, 7, filter.status_class().is_some()),
    ];
    format!(
        "SELECT * FROM (
            SELECT * FROM forum_api_deliveries
            WHERE state = '{state}' AND {conditions}
                AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
            ORDER BY created_at DESC, id DESC LIMIT ?3
        )",
        state = state.as_str(),
        conditions = conditions.join(" AND ")
    )
}

/// Returns the condition `sql` if the filter is set. Otherwise returns a condition without the column, so that SQLite
/// can use every index.
fn condition_if(sql: &str, parameter: u8, is_set: bool) -> String {
    match is_set {
        true => sql.into(),
        false => format!("?{parameter} IS NULL"),
    }
}

pub(super) fn delivery_stats(
    connection: &Connection,
    since: Timestamp,
    now: Timestamp,
) -> Result<DeliveryStats> {
    let mut stats = DeliveryStats::default();
    for &state in DeliveryState::ALL {
        let read = |row: &Row<'_>| {
            Ok(DeliveryCount {
                hours_ago: row.number("hours_ago")?,
                endpoint_id: row.get("endpoint")?,
                state,
                count: row.number("count")?,
            })
        };
        let parameters = params![state, since, now];
        let counts = all(connection, DELIVERY_COUNTS, parameters, read)?;
        stats.deliveries.extend(counts);
    }
    let [first, second, third, fourth, fifth] = DeliveryStats::ATTEMPT_DURATION_BOUNDS_MS
        .map(|bound| i64::try_from(bound).unwrap_or(i64::MAX));
    let bounds = params![since, first, second, third, fourth, fifth];
    let read = |row: &Row<'_>| Ok((row.number::<usize>("size")?, row.number("count")?));
    for (size, count) in all(connection, ATTEMPT_DURATIONS, bounds, read)? {
        if let Some(attempts) = stats.attempt_durations.get_mut(size) {
            *attempts = count;
        }
    }
    Ok(stats)
}
