-- An unknown outcome has no status.
UPDATE forum_api_idempotency_keys
SET ended = TRUE, status = ?4, location = ?5, body = ?6, forum_id = ?7, thread_id = ?8, post_id = ?9
WHERE token = ?1 AND key = ?2 AND began_at = ?3
