//! How deliveries are forgotten: a few at a time, each found by an index.

use rusqlite::{Connection, Result, params};

use crate::model::Timestamp;
use crate::store::sqlite::run::change;

pub(super) const ENDED: &str = "
    DELETE FROM forum_api_deliveries WHERE rowid IN (
        SELECT rowid FROM forum_api_deliveries WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";

/// Hops through the index from one endpoint that has deliveries to the next, and takes those of removed ones.
pub(super) const LEFT_BEHIND: &str = "
    DELETE FROM forum_api_deliveries WHERE rowid IN (
        WITH RECURSIVE hop (endpoint) AS (
            SELECT min(endpoint) FROM forum_api_deliveries
            UNION ALL
            SELECT (SELECT min(endpoint) FROM forum_api_deliveries WHERE endpoint > hop.endpoint)
            FROM hop WHERE hop.endpoint IS NOT NULL)
        SELECT delivery.rowid FROM hop
        CROSS JOIN forum_api_deliveries delivery ON delivery.endpoint = hop.endpoint
        WHERE hop.endpoint NOT IN (SELECT id FROM forum_api_endpoints) LIMIT ?1)";

/// Removes up to `limit` deliveries; how many.
pub(super) fn sweep(connection: &Connection, before: Timestamp, limit: u32) -> Result<u64> {
    let left_behind = change(connection, LEFT_BEHIND, [limit])?;
    let rest = i64::from(limit) - left_behind as i64;
    let ended = change(connection, ENDED, params![before, rest])?;
    Ok((left_behind + ended) as u64)
}
