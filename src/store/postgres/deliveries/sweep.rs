//! How deliveries are forgotten.

use super::is_there;
use crate::model::{DeliveryId, Timestamp};
use crate::store::postgres::Statement;
use crate::store::postgres::statement::statements;

statements! {
    /// Removes a delivery, in any state. It changes one row, or none when there is no such delivery. The event goes with
    /// its last delivery.
    remove(id: &DeliveryId) binds [id] to concat!("\
WITH event AS MATERIALIZED (
    SELECT event.id FROM forum_api_deliveries delivery JOIN forum_api_events event ON event.id = delivery.event
    WHERE delivery.id = $1 FOR UPDATE OF event
)
DELETE FROM forum_api_deliveries delivery USING event
WHERE delivery.id = $1 AND delivery.event = event.id AND ", is_there!());

    /// Removes up to `limit` deliveries: what removed endpoints left, and what ended before `before`. It changes as many
    /// rows. An event goes with its last delivery. What somebody else holds is left to the next sweep.
    sweep(before: Timestamp, limit: u32) binds [before.as_millis(), limit] to concat!("\
WITH RECURSIVE hop (endpoint) AS (
    SELECT min(endpoint) FROM forum_api_deliveries
    UNION ALL
    SELECT (SELECT min(endpoint) FROM forum_api_deliveries WHERE endpoint > hop.endpoint)
    FROM hop WHERE hop.endpoint IS NOT NULL
), over AS MATERIALIZED (
    SELECT left_behind.* FROM hop CROSS JOIN LATERAL (
        SELECT id, event FROM forum_api_deliveries WHERE endpoint = hop.endpoint LIMIT $2::TEXT::BIGINT
    ) left_behind
    WHERE hop.endpoint NOT IN (SELECT id FROM forum_api_endpoints)
    UNION ALL
    SELECT ended.* FROM (
        SELECT id, event FROM forum_api_deliveries delivery
        WHERE ended_at < $1::TEXT::BIGINT AND ", is_there!(), " ORDER BY ended_at LIMIT $2::TEXT::BIGINT
    ) ended
    LIMIT $2::TEXT::BIGINT
), event AS MATERIALIZED (
    SELECT id FROM forum_api_events WHERE id = ANY (ARRAY(SELECT event FROM over)) FOR UPDATE SKIP LOCKED
), locked AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries delivery
    WHERE id = ANY (ARRAY(SELECT id FROM over)) AND event IN (SELECT id FROM event)
        AND (ended_at < $1::TEXT::BIGINT OR NOT ", is_there!(), ")
    FOR UPDATE SKIP LOCKED
)
DELETE FROM forum_api_deliveries WHERE id = ANY (ARRAY(SELECT id FROM locked))");
}
