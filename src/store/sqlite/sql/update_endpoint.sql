-- Applies if the version is `?2`. Enabling an endpoint ends its failure period.
UPDATE forum_api_endpoints
SET version = version + 1, url = ?3, topics = ?4, owner = ?5, enabled = ?6, created_at = ?7,
    secret = ?8, pending_secret = ?9, pending_from = ?10,
    failing_since = CASE WHEN ?6 AND NOT enabled THEN NULL ELSE failing_since END,
    auto_disabled = auto_disabled AND NOT ?6
WHERE id = ?1 AND version = ?2
