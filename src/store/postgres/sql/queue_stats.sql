-- Counts due deliveries up to `$2`, and finds the earliest due time.
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
)
SELECT least(coalesce(sum(depth), 0), $2)::BIGINT, min(due_at) FROM due
