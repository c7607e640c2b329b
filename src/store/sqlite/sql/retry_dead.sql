-- Queues the oldest dead deliveries of an endpoint again.
UPDATE forum_api_deliveries SET state = ?2, attempts = ?3, due_at = ?4, ended_at = NULL
WHERE rowid IN (
    SELECT rowid FROM forum_api_deliveries WHERE endpoint = ?1 AND state = ?5 ORDER BY created_at, id LIMIT ?6
) AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = ?1)
