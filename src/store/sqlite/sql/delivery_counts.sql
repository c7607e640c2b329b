-- Counts the latest deliveries of one state. An unreadable row is reported by its column `id`.
SELECT *, endpoint AS id FROM (
    SELECT max(?3 - created_at, 0) / 3600000 AS hours_ago, endpoint, ?1 AS state, count(*) AS count
    FROM (
        SELECT created_at, endpoint FROM forum_api_deliveries
        WHERE state = ?1 AND created_at > ?2 ORDER BY created_at DESC, id DESC LIMIT ?4
    ) page
    GROUP BY hours_ago, endpoint
) WHERE endpoint IN (SELECT id FROM forum_api_endpoints)
