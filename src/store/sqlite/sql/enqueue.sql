-- Applies if the endpoint exists and is enabled.
INSERT INTO forum_api_deliveries
    (id, event, topic, endpoint, created_at, state, attempts, due_at, due_set_at)
SELECT ?1, event.id, event.topic, endpoint.id, ?4, 'queued', 0, ?4, ?4
FROM forum_api_events event CROSS JOIN forum_api_endpoints endpoint
WHERE event.id = ?2 AND endpoint.id = ?3 AND endpoint.enabled
ON CONFLICT (id) DO NOTHING
