-- Leases due deliveries, and returns the time until the next one is due.
--
-- Concurrent claims skip the rows that others have locked, and do not wait for locks. The statement first finds and locks
-- each endpoint's share of the oldest due deliveries, and replaces those that other workers claimed meanwhile with
-- deliveries of endpoints that are not impaired: whose last attempt succeeded within a second. The planner
-- estimates an unknown limit as a tenth of all rows, so each unknown limit is within a known one.
--
-- Its commit does not wait for the disk (`synchronous_commit`): sending does not start before `begin_sending` is durable.
-- The id of a lease is at least the time in microseconds, so that an id whose commit was lost in a crash is not reused.
WITH clock AS MATERIALIZED (
    SELECT coalesce($5::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), endpoint AS MATERIALIZED (
    SELECT endpoint.*, set_config('synchronous_commit', 'off', TRUE),
        greatest($2 - coalesce(running.attempts, 0), 0) AS capacity
    FROM forum_api_endpoints endpoint
    LEFT JOIN unnest($3::TEXT[], $4::BIGINT[]) AS running (endpoint, attempts) ON running.endpoint = endpoint.id
    WHERE endpoint.enabled
), candidate AS MATERIALIZED (
    SELECT first.*, endpoint.failing_since IS NOT NULL OR endpoint.is_slow AS impaired FROM endpoint CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at IS NOT NULL
            ORDER BY due_at, id LIMIT $2
        ) few LIMIT endpoint.capacity
    ) first
), pending AS MATERIALIZED (
    SELECT id, endpoint, due_at FROM candidate WHERE NOT impaired
    UNION ALL
    (SELECT id, endpoint, due_at FROM candidate WHERE impaired ORDER BY due_at, id LIMIT $7)
), share AS MATERIALIZED (
    SELECT endpoint, count(*) AS size FROM (
        SELECT endpoint FROM pending WHERE due_at <= (SELECT now FROM clock)
        ORDER BY due_at, id LIMIT $1
    ) oldest GROUP BY endpoint
), locked AS MATERIALIZED (
    SELECT first.* FROM share CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = share.endpoint AND due_at <= (SELECT now FROM clock)
            ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
        ) few LIMIT share.size
    ) first
), more AS MATERIALIZED (
    SELECT first.* FROM endpoint CROSS JOIN LATERAL (
        SELECT * FROM (
            SELECT id, endpoint, due_at FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) AND id NOT IN (SELECT id FROM locked)
            ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
        ) few LIMIT endpoint.capacity - (SELECT count(*) FROM locked WHERE locked.endpoint = endpoint.id)
    ) first
    WHERE endpoint.failing_since IS NULL AND NOT endpoint.is_slow
    LIMIT (SELECT sum(size) FROM share) - (SELECT count(*) FROM locked)
), before AS MATERIALIZED (
    SELECT * FROM locked UNION ALL SELECT * FROM more
), leased AS (
    UPDATE forum_api_deliveries SET due_at = (SELECT now FROM clock) + $6, due_set_at = (SELECT now FROM clock),
        lease = greatest(lease + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT), leased = TRUE
    WHERE id = ANY (ARRAY(SELECT id FROM before))
    RETURNING id, event, topic, endpoint, created_at, state, attempts, lease, sending
), delivery AS (
    SELECT leased.*, before.due_at FROM leased JOIN before USING (id)
)
SELECT next.due_at - (SELECT now FROM clock) AS due_in, delivery.*, event.occurred_at, event.forum, event.request_id, event.body,
    endpoint.id AS endpoint_id, endpoint.url AS endpoint_url, endpoint.topics AS endpoint_topics,
    endpoint.owner AS endpoint_owner, endpoint.enabled AS endpoint_enabled, endpoint.created_at AS endpoint_created_at,
    endpoint.secret AS endpoint_secret, endpoint.pending_secret AS endpoint_pending_secret,
    endpoint.pending_from AS endpoint_pending_from, endpoint.version AS endpoint_version,
    endpoint.failing_since AS endpoint_failing_since, endpoint.is_slow AS endpoint_is_slow,
    endpoint.auto_disabled AS endpoint_auto_disabled
FROM (SELECT min(due_at) AS due_at FROM pending WHERE id NOT IN (SELECT id FROM before)) next
LEFT JOIN (
    delivery JOIN endpoint ON endpoint.id = delivery.endpoint
    CROSS JOIN LATERAL (SELECT * FROM forum_api_events WHERE id = delivery.event LIMIT 1) event
) ON TRUE
ORDER BY delivery.due_at, delivery.id
