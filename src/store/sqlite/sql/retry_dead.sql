-- Queues the oldest dead deliveries of an endpoint again.
UPDATE forum_api_deliveries SET state = 'queued', attempts = 0, due_at = ?2, ended_at = NULL
WHERE rowid IN (
    SELECT rowid FROM forum_api_deliveries WHERE endpoint = ?1 AND state = 'dead' ORDER BY created_at, id LIMIT ?3
) AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = ?1)
