-- Queues the oldest dead deliveries of an endpoint again, each one millisecond after the one before, so that they are sent in
-- the order of their events: after the ones that were queued like this before. Due times that were computed from a time more
-- than `$4` ahead count as reached. Skips locked rows.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), dead AS MATERIALIZED (
    SELECT delivery.id, delivery.created_at, event.number
    FROM forum_api_deliveries delivery JOIN forum_api_events event ON event.id = delivery.event
    WHERE delivery.endpoint = $1 AND delivery.state = 'dead'
        AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
    ORDER BY delivery.created_at, event.number LIMIT $3 FOR NO KEY UPDATE OF delivery SKIP LOCKED
), start AS MATERIALIZED (
    SELECT greatest(now, (
        SELECT max(due_at) + 1 FROM forum_api_deliveries
        WHERE endpoint = $1 AND state = 'queued' AND NOT leased AND due_at >= now AND due_set_at <= now + $4
    )) AS due_at
    FROM clock
), ordered AS (
    SELECT id, (SELECT due_at FROM start) + row_number() OVER (ORDER BY created_at, number) - 1 AS due_at FROM dead
)
UPDATE forum_api_deliveries SET state = 'queued', attempts = 0, due_at = ordered.due_at, due_set_at = (SELECT now FROM clock), ended_at = NULL
FROM ordered WHERE forum_api_deliveries.id = ordered.id
