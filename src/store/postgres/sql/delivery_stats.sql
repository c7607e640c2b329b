-- Counts the latest deliveries of each state by hour, endpoint and state.
SELECT * FROM (
    SELECT greatest($2 - created_at, 0) / 3600000 AS hours_ago, endpoint, state, count(*)
    FROM unnest($3::TEXT[]) AS listed (state) CROSS JOIN LATERAL (
        SELECT created_at, endpoint FROM forum_api_deliveries
        WHERE state = listed.state AND created_at > $1 ORDER BY created_at DESC, id DESC LIMIT $4
    ) AS page
    GROUP BY 1, 2, 3
) counted WHERE endpoint IN (SELECT id FROM forum_api_endpoints)
