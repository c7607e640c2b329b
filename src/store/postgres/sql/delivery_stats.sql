-- Counts the latest deliveries of each state that were created less than `$2` ago, by hour, endpoint and state. An unreadable
-- row is reported by its column `id`.
WITH clock AS MATERIALIZED (
    SELECT coalesce($1::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
)
SELECT *, endpoint AS id FROM (
    SELECT greatest((SELECT now FROM clock) - created_at, 0) / 3600000 AS hours_ago, endpoint, state, count(*)
    FROM unnest($3::TEXT[]) AS listed (state) CROSS JOIN LATERAL (
        SELECT created_at, endpoint FROM forum_api_deliveries
        WHERE state = listed.state AND created_at > (SELECT now FROM clock) - $2 ORDER BY created_at DESC, id DESC LIMIT $4
    ) AS page
    GROUP BY 1, 2, 3
) counted WHERE endpoint IN (SELECT id FROM forum_api_endpoints)
