-- Returns the endpoint's id if it exists and is enabled.
WITH clock AS MATERIALIZED (
    SELECT coalesce($8::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), endpoint AS MATERIALIZED (
    SELECT id FROM forum_api_endpoints WHERE id = $7 AND enabled FOR KEY SHARE
), put AS (
    INSERT INTO forum_api_events (id, topic, occurred_at, forum, request_id, body, fanned_out_at, in_feed)
    SELECT $1, $2, $3, $4, $9, $5, now, FALSE FROM endpoint, clock
    ON CONFLICT (id) DO NOTHING
), queued AS (
    INSERT INTO forum_api_deliveries (id, event, topic, endpoint, created_at, state, attempts, due_at, due_set_at)
    SELECT $6, $1, $2, id, now, 'queued', 0, now, now FROM endpoint, clock
    ON CONFLICT (id) DO NOTHING
)
SELECT id FROM endpoint
