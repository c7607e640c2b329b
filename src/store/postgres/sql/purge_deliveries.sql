-- Skips locked rows.
WITH old AS MATERIALIZED (
    SELECT id, event FROM forum_api_deliveries delivery
    WHERE state = $1 AND created_at < $2 AND due_at IS NULL
        AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
    ORDER BY created_at, id LIMIT $3
), event AS MATERIALIZED (
    SELECT id FROM forum_api_events WHERE id = ANY (ARRAY(SELECT event FROM old)) FOR UPDATE SKIP LOCKED
), locked AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries
    WHERE id = ANY (ARRAY(SELECT id FROM old)) AND event IN (SELECT id FROM event)
        AND state = $1 AND due_at IS NULL
    FOR UPDATE SKIP LOCKED
)
DELETE FROM forum_api_deliveries WHERE id = ANY (ARRAY(SELECT id FROM locked))
