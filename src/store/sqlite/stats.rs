//! Statistics of deliveries.

use rusqlite::{Connection, params};

use super::execute::{Result, all};
use crate::model::Timestamp;
use crate::store::sql::Columns;
use crate::store::{DeliveryCount, DeliveryStats};
use crate::webhook::DeliveryState;

pub(super) const DELIVERY_COUNTS: &str = include_str!("sql/delivery_counts.sql");
pub(super) const ENDPOINT_STATS: &str = include_str!("sql/endpoint_stats.sql");
pub(super) const ATTEMPT_DURATIONS: &str = include_str!("sql/attempt_durations.sql");

pub(super) fn delivery_stats(
    connection: &Connection,
    since: Timestamp,
    now: Timestamp,
) -> Result<DeliveryStats> {
    let mut stats = DeliveryStats::default();
    for &state in DeliveryState::ALL {
        let read = |row: &dyn Columns| {
            Ok(DeliveryCount {
                hours_ago: row.value("hours_ago")?,
                endpoint_id: row.value("endpoint")?,
                state,
                count: row.value("count")?,
            })
        };
        let parameters = params![state, since, now];
        let counts = all(connection, DELIVERY_COUNTS, parameters, read)?;
        stats.deliveries.extend(counts);
    }
    let [first, second, third, fourth, fifth] = DeliveryStats::ATTEMPT_DURATION_BOUNDS_MS
        .map(|bound| i64::try_from(bound).unwrap_or(i64::MAX));
    let bounds = params![since, first, second, third, fourth, fifth];
    let read = |row: &dyn Columns| Ok((row.value::<usize>("size")?, row.value("count")?));
    for (size, count) in all(connection, ATTEMPT_DURATIONS, bounds, read)? {
        if let Some(attempts) = stats.attempt_durations.get_mut(size) {
            *attempts = count;
        }
    }
    Ok(stats)
}
