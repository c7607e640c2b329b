-- Counts deliveries by hour, endpoint and state.
SELECT * FROM (
    SELECT greatest($2 - created_at, 0) / 3600000 AS hours_ago, endpoint, state, count(*)
    FROM forum_api_deliveries WHERE state = ANY ($3) AND created_at > $1
    GROUP BY 1, 2, 3
) counted WHERE endpoint IN (SELECT id FROM forum_api_endpoints)
