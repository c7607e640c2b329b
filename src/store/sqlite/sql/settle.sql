-- Applies if the lease was not replaced and the endpoint exists.
UPDATE forum_api_deliveries
SET state = ?3, attempts = ?4, due_at = ?5, due_set_at = ?8, ended_at = ?6, status_class = coalesce(?7, status_class), lease = lease + 1, leased = FALSE, sending = FALSE
WHERE id = ?1 AND lease = ?2
    AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
