-- Queues a delivery of each event to each of its endpoints that exists and is enabled. A trigger deletes events without
-- recipients that do not stay in the feed. Skips events that were fanned out before.
--
-- Its commit does not wait for the disk (`synchronous_commit`), and neither does a claim of the deliveries. Deliveries that
-- a crash loses are queued again.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), event AS MATERIALIZED (
    SELECT id, topic, set_config('synchronous_commit', 'off', TRUE) FROM forum_api_events
    WHERE id = ANY ($1) AND fanned_out_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at, due_set_at)
    SELECT delivery.id, event.id, event.topic, endpoint.id, clock.now, 'queued', 0, clock.now, clock.now
    FROM clock CROSS JOIN unnest($3::TEXT[], $4::TEXT[], $5::TEXT[]) AS delivery (id, event, endpoint)
    JOIN event ON event.id = delivery.event
    JOIN forum_api_endpoints endpoint ON endpoint.id = delivery.endpoint AND endpoint.enabled
    FOR KEY SHARE OF endpoint
    ON CONFLICT (id) DO NOTHING
)
UPDATE forum_api_events SET fanned_out_at = (SELECT now FROM clock), in_feed = in_feed AND id = ANY ($6)
WHERE id = ANY (ARRAY(SELECT id FROM event))
