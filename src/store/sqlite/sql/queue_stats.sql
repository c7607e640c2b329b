-- Counts due, dead and retrying deliveries up to `?2`, and disabled endpoints. Finds the time since the earliest due time,
-- and the latest due time of a retry. Due times that were computed from a time after `?3` count as reached.
SELECT count(*) AS depth,
    CASE WHEN count(*) > 0 THEN ?1 - coalesce((SELECT min((SELECT min(due_at) FROM forum_api_deliveries delivery
        WHERE delivery.endpoint = endpoint.id AND delivery.due_at <= ?1))
    FROM forum_api_endpoints endpoint WHERE endpoint.enabled), ?1) END AS oldest_age,
    (SELECT count(*) FROM (
        SELECT 1 FROM forum_api_deliveries delivery
        WHERE state = 'dead' AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = delivery.endpoint) LIMIT ?2
    )) AS dead,
    (SELECT count(*) FROM forum_api_endpoints endpoint WHERE NOT endpoint.enabled) AS disabled_endpoints,
    (SELECT count(*) FROM (
        SELECT 1 FROM forum_api_deliveries delivery
        WHERE state = 'retrying' AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = delivery.endpoint) LIMIT ?2
    )) AS retrying,
    (SELECT max(due_at) FROM (
        SELECT due_at FROM forum_api_deliveries delivery
        WHERE state = 'retrying' AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = delivery.endpoint) LIMIT ?2
    )) AS latest_retry_at
FROM (
    SELECT 1 FROM forum_api_endpoints endpoint
    CROSS JOIN forum_api_deliveries delivery ON delivery.endpoint = endpoint.id
    WHERE endpoint.enabled AND delivery.due_at <= ?1
    UNION ALL
    SELECT 1 FROM forum_api_deliveries delivery
    CROSS JOIN forum_api_endpoints endpoint ON endpoint.id = delivery.endpoint
    WHERE delivery.due_set_at > ?3 AND delivery.due_at > ?1 AND endpoint.enabled
    LIMIT ?2
)
