-- Deletes the oldest finished deliveries in a state that were created longer ago than `$3`. Skips locked rows.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), old AS MATERIALIZED (
    SELECT id, event FROM forum_api_deliveries delivery
    WHERE state = $1 AND created_at < (SELECT now FROM clock) - $3 AND due_at IS NULL
        AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
    ORDER BY created_at, id LIMIT $4
), event AS MATERIALIZED (
    SELECT id FROM forum_api_events WHERE id = ANY (ARRAY(SELECT event FROM old)) FOR UPDATE SKIP LOCKED
), locked AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries
    WHERE id = ANY (ARRAY(SELECT id FROM old)) AND event IN (SELECT id FROM event)
        AND state = $1 AND due_at IS NULL
    FOR UPDATE SKIP LOCKED
)
DELETE FROM forum_api_deliveries WHERE id = ANY (ARRAY(SELECT id FROM locked))
