-- Deletes the oldest finished deliveries in a state. Those of removed endpoints are deleted elsewhere.
DELETE FROM forum_api_deliveries WHERE rowid IN (
    SELECT rowid FROM forum_api_deliveries
    WHERE state = ?1 AND created_at < ?2 AND due_at IS NULL
        AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
    ORDER BY created_at, id LIMIT ?3)
