-- Counts deliveries by hour, endpoint and state, and, in rows without an endpoint, attempts that sent a
-- request by duration.
SELECT hours_ago AS group, endpoint, state, count FROM (
    SELECT greatest($2 - created_at, 0) / 3600000 AS hours_ago, endpoint, state, count(*)
    FROM forum_api_deliveries WHERE state = ANY ($3) AND created_at > $1
    GROUP BY 1, 2, 3
) counted WHERE endpoint IN (SELECT id FROM forum_api_endpoints)
UNION ALL
SELECT width_bucket(duration_ms, $4::BIGINT[]), NULL, NULL, count(*)
FROM forum_api_attempts WHERE at > $1 AND (status IS NOT NULL OR request_headers IS NOT NULL) GROUP BY 1
