SELECT count(*) AS depth,
    (SELECT min((SELECT min(due_at) FROM forum_api_deliveries delivery
        WHERE delivery.endpoint = endpoint.id AND delivery.due_at <= ?1))
    FROM forum_api_endpoints endpoint WHERE endpoint.enabled) AS since
FROM (
    SELECT 1 FROM forum_api_endpoints endpoint
    CROSS JOIN forum_api_deliveries delivery ON delivery.endpoint = endpoint.id
    WHERE endpoint.enabled AND delivery.due_at <= ?1 LIMIT ?2
)
