-- Removes deliveries that ended longer ago than `$2`, and those of removed endpoints, which it finds by a scan of the
-- endpoints in the index. Skips locked rows.
WITH RECURSIVE clock AS MATERIALIZED (
    SELECT coalesce($1::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), hop (endpoint) AS (
    SELECT min(endpoint) FROM forum_api_deliveries
    UNION ALL
    SELECT (SELECT min(endpoint) FROM forum_api_deliveries WHERE endpoint > hop.endpoint)
    FROM hop WHERE hop.endpoint IS NOT NULL
), over AS MATERIALIZED (
    SELECT left_behind.* FROM hop CROSS JOIN LATERAL (
        SELECT id, event FROM forum_api_deliveries WHERE endpoint = hop.endpoint LIMIT $3
    ) left_behind
    WHERE hop.endpoint NOT IN (SELECT id FROM forum_api_endpoints)
    UNION ALL
    SELECT ended.* FROM (
        SELECT id, event FROM forum_api_deliveries delivery
        WHERE ended_at < (SELECT now FROM clock) - $2
            AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
        ORDER BY ended_at LIMIT $3
    ) ended
    LIMIT $3
), event AS MATERIALIZED (
    SELECT id FROM forum_api_events WHERE id = ANY (ARRAY(SELECT event FROM over)) FOR UPDATE SKIP LOCKED
), locked AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries delivery
    WHERE id = ANY (ARRAY(SELECT id FROM over)) AND event IN (SELECT id FROM event)
        AND (
            ended_at < (SELECT now FROM clock) - $2
            OR NOT EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
        )
    FOR UPDATE SKIP LOCKED
)
DELETE FROM forum_api_deliveries WHERE id = ANY (ARRAY(SELECT id FROM locked))
