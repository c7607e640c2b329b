-- Queues the oldest dead deliveries of an endpoint again. Skips locked rows.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), dead AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries delivery
    WHERE endpoint = $1 AND state = 'dead'
        AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
    ORDER BY created_at, id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE forum_api_deliveries SET state = 'queued', attempts = 0, due_at = (SELECT now FROM clock), ended_at = NULL
WHERE id = ANY (ARRAY(SELECT id FROM dead))
