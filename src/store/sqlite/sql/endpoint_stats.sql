-- Counts by result the latest deliveries with an attempt of each endpoint that were created after `?1`. Finds the latest
-- delivery with an attempt of each endpoint, of any age. The index of endpoints contains all columns of the deliveries that
-- are read for it.
WITH stats AS MATERIALIZED (
    SELECT endpoint.id,
        (
            SELECT json_array(count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state <> 'delivered'))
            FROM (
                SELECT state FROM (
                    SELECT * FROM (
                        SELECT state, created_at FROM forum_api_deliveries delivery
                        WHERE delivery.endpoint = endpoint.id AND state = 'delivered' AND created_at > ?1
                        ORDER BY created_at DESC, id DESC LIMIT ?2)
                    UNION ALL
                    SELECT * FROM (
                        SELECT state, created_at FROM forum_api_deliveries delivery
                        WHERE delivery.endpoint = endpoint.id AND state = 'retrying' AND created_at > ?1
                        ORDER BY created_at DESC, id DESC LIMIT ?2)
                    UNION ALL
                    SELECT * FROM (
                        SELECT state, created_at FROM forum_api_deliveries delivery
                        WHERE delivery.endpoint = endpoint.id AND state = 'dead' AND created_at > ?1
                        ORDER BY created_at DESC, id DESC LIMIT ?2)
                    UNION ALL
                    SELECT * FROM (
                        SELECT state, created_at FROM forum_api_deliveries delivery
                        WHERE delivery.endpoint = endpoint.id AND state = 'gone' AND created_at > ?1
                        ORDER BY created_at DESC, id DESC LIMIT ?2)
                ) ORDER BY created_at DESC LIMIT ?2
            )
        ) AS results,
        (
            SELECT id FROM (
                SELECT * FROM (
                    SELECT id, created_at FROM forum_api_deliveries delivery
                    WHERE delivery.endpoint = endpoint.id AND state = 'delivered' ORDER BY created_at DESC, id DESC LIMIT 1)
                UNION ALL
                SELECT * FROM (
                    SELECT id, created_at FROM forum_api_deliveries delivery
                    WHERE delivery.endpoint = endpoint.id AND state = 'retrying' ORDER BY created_at DESC, id DESC LIMIT 1)
                UNION ALL
                SELECT * FROM (
                    SELECT id, created_at FROM forum_api_deliveries delivery
                    WHERE delivery.endpoint = endpoint.id AND state = 'dead' ORDER BY created_at DESC, id DESC LIMIT 1)
                UNION ALL
                SELECT * FROM (
                    SELECT id, created_at FROM forum_api_deliveries delivery
                    WHERE delivery.endpoint = endpoint.id AND state = 'gone' ORDER BY created_at DESC, id DESC LIMIT 1)
            ) ORDER BY created_at DESC, id DESC LIMIT 1
        ) AS last
    FROM forum_api_endpoints endpoint
)
SELECT stats.id, json_extract(stats.results, '$[0]') AS delivered, json_extract(stats.results, '$[1]') AS failed,
    stats.last, delivery.state, attempt.at, attempt.status
FROM stats
LEFT JOIN forum_api_deliveries delivery ON delivery.id = stats.last
LEFT JOIN forum_api_attempts attempt ON attempt.delivery = stats.last
    AND attempt.number = (SELECT max(number) FROM forum_api_attempts WHERE delivery = stats.last)
