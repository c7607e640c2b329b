-- Queues a finished delivery again, or makes a retrying delivery due, unless it is leased. A lease that was taken more
-- than `$4` ahead counts as expired. An attempt under an expired lease is not counted: otherwise the next claim would record
-- its failure instead of sending.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
)
UPDATE forum_api_deliveries delivery
SET state = CASE delivery.state WHEN 'retrying' THEN 'retrying' ELSE 'queued' END,
    attempts = CASE delivery.state WHEN 'retrying' THEN delivery.attempts ELSE 0 END,
    due_at = clock.now, due_set_at = clock.now, ended_at = NULL, leased = FALSE, sending = FALSE
FROM clock
WHERE id = $1 AND (
    delivery.state = ANY ($3)
    OR delivery.state = 'retrying' AND NOT (
        delivery.leased AND delivery.due_at > clock.now AND delivery.due_set_at <= clock.now + $4
    )
) AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
