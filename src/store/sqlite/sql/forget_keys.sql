-- Deletes a few at a time: more than are reserved, and never so many that others wait.
DELETE FROM forum_api_idempotency_keys WHERE rowid IN (
    SELECT rowid FROM forum_api_idempotency_keys
    WHERE began_at <= ?1 ORDER BY began_at LIMIT 8)
