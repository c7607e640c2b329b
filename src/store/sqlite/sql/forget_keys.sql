-- Deletes a few expired keys: more than are reserved, and not so many that other writes wait.
DELETE FROM forum_api_idempotency_keys WHERE rowid IN (
    SELECT rowid FROM forum_api_idempotency_keys
    WHERE began_at <= ?1 ORDER BY began_at LIMIT 8)
