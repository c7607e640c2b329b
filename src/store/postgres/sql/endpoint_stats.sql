-- Counts by result the latest deliveries with an attempt of each endpoint that were created less than `$2` ago. Finds the
-- latest delivery with an attempt of each endpoint, of any age.
WITH clock AS MATERIALIZED (
    SELECT coalesce($1::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
)
SELECT endpoint.id, counted.delivered, counted.failed, last.id AS last, last.state, attempted.at, attempted.status
FROM forum_api_endpoints endpoint
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE state = 'delivered') AS delivered, count(*) FILTER (WHERE state <> 'delivered') AS failed
    FROM (
        SELECT newest.* FROM unnest(ARRAY['delivered', 'retrying', 'dead', 'gone']) AS listed (state)
        CROSS JOIN LATERAL (
            SELECT state, created_at FROM forum_api_deliveries
            WHERE endpoint = endpoint.id AND state = listed.state AND created_at > (SELECT now FROM clock) - $2
            ORDER BY created_at DESC, id DESC LIMIT $3
        ) newest
        ORDER BY newest.created_at DESC LIMIT $3
    ) AS page
) counted
LEFT JOIN LATERAL (
    SELECT newest.* FROM unnest(ARRAY['delivered', 'retrying', 'dead', 'gone']) AS listed (state)
    CROSS JOIN LATERAL (
        SELECT id, state, created_at FROM forum_api_deliveries
        WHERE endpoint = endpoint.id AND state = listed.state
        ORDER BY created_at DESC, id DESC LIMIT 1
    ) newest
    ORDER BY newest.created_at DESC, newest.id DESC LIMIT 1
) last ON TRUE
LEFT JOIN LATERAL (
    SELECT at, status FROM forum_api_attempts WHERE delivery = last.id ORDER BY number DESC LIMIT 1
) attempted ON TRUE
