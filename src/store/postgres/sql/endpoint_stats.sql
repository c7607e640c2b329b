-- Counts the deliveries of each endpoint by result, and finds its latest delivery with an attempt.
SELECT endpoint.id, counted.delivered, counted.failed, last.id AS last, last.state, attempted.at, attempted.status
FROM forum_api_endpoints endpoint
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE state = 'delivered') AS delivered, count(*) FILTER (WHERE state <> 'delivered') AS failed
    FROM forum_api_deliveries
    WHERE endpoint = endpoint.id AND state IN ('delivered', 'retrying', 'dead', 'gone') AND created_at > $1
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
