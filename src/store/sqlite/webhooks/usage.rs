//! Usage statistics, counted by the database.

use rusqlite::{Connection, Result, Row, params};

use crate::model::Timestamp;
use crate::store::sqlite::run::all;
use crate::store::{DeliveryCount, Usage};
use crate::webhook::State;

/// The deliveries of one state.
pub(super) const DELIVERIES: &str = "
    SELECT * FROM (
        SELECT max(?3 - created_at, 0) / 3600000 AS hours_ago, endpoint, count(*) AS count
        FROM forum_api_deliveries WHERE state = ?1 AND created_at > ?2 GROUP BY hours_ago, endpoint
    ) WHERE endpoint IN (SELECT id FROM forum_api_endpoints)";

pub(super) const ATTEMPTS: &str = "
    SELECT CASE WHEN duration_ms < ?2 THEN 0 WHEN duration_ms < ?3 THEN 1 WHEN duration_ms < ?4 THEN 2
        WHEN duration_ms < ?5 THEN 3 WHEN duration_ms < ?6 THEN 4 ELSE 5 END AS size, count(*) AS count
    FROM forum_api_attempts WHERE at > ?1 GROUP BY size";

pub(super) fn usage(connection: &Connection, since: Timestamp, now: Timestamp) -> Result<Usage> {
    let mut deliveries = Vec::new();
    for state in State::ALL {
        let count = |row: &Row<'_>| {
            Ok(DeliveryCount {
                hours_ago: row.get::<_, i64>("hours_ago")?.unsigned_abs(),
                endpoint: row.get("endpoint")?,
                state,
                count: row.get::<_, i64>("count")?.unsigned_abs(),
            })
        };
        deliveries.extend(all(
            connection,
            DELIVERIES,
            params![state, since, now],
            count,
        )?);
    }
    let [first, second, third, fourth, fifth] =
        Usage::ATTEMPT_TIME_BOUNDS.map(|bound| i64::try_from(bound).unwrap_or(i64::MAX));
    let bounds = params![since, first, second, third, fourth, fifth];
    let size = |row: &Row<'_>| Ok((row.get::<_, u8>("size")?, row.get::<_, i64>("count")?));
    let mut attempt_times = [0; 6];
    for (size, count) in all(connection, ATTEMPTS, bounds, size)? {
        if let Some(time) = attempt_times.get_mut(usize::from(size)) {
            *time = count.unsigned_abs();
        }
    }
    Ok(Usage {
        deliveries,
        attempt_times,
    })
}
