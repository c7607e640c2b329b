-- Counts due, dead and retrying deliveries up to `$2`, and disabled endpoints. Finds the time since the earliest due time,
-- and the latest due time of a retry. Due times that were computed from a time more than `$3` ahead count as reached.
WITH clock AS MATERIALIZED (
    SELECT coalesce($1::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), due AS MATERIALIZED (
    SELECT first.due_at, many.depth FROM forum_api_endpoints endpoint CROSS JOIN LATERAL (
        SELECT due_at FROM forum_api_deliveries
        WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) ORDER BY due_at LIMIT 1
    ) first CROSS JOIN LATERAL (
        SELECT count(*) AS depth FROM (
            SELECT FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND due_at <= (SELECT now FROM clock) LIMIT $2
        ) few
    ) many
    WHERE endpoint.enabled
    UNION ALL
    SELECT (SELECT now FROM clock), 1 FROM (
        SELECT endpoint FROM forum_api_deliveries
        WHERE due_set_at > (SELECT now FROM clock) + $3 AND due_at > (SELECT now FROM clock)
        ORDER BY due_set_at DESC LIMIT $2
    ) ahead
    WHERE EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = ahead.endpoint AND endpoint.enabled)
)
SELECT least(coalesce(sum(depth), 0), $2)::BIGINT AS depth, (SELECT now FROM clock) - min(due_at) AS oldest_age, (
    SELECT count(*) FROM (
        SELECT FROM forum_api_deliveries delivery
        WHERE state = 'dead' AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
        LIMIT $2
    ) few
) AS dead, (SELECT count(*) FROM forum_api_endpoints WHERE NOT enabled) AS disabled_endpoints,
    retries.retrying, retries.latest_retry_at
FROM (
    SELECT count(*) AS retrying, max(due_at) AS latest_retry_at
    FROM (
        SELECT due_at FROM forum_api_deliveries delivery
        WHERE state = 'retrying'
            AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
        LIMIT $2
    ) few
) retries LEFT JOIN due ON TRUE
GROUP BY retries.retrying, retries.latest_retry_at
