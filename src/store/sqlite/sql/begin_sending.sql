-- Applies if the lease was not replaced and has not expired.
UPDATE forum_api_deliveries SET sending = TRUE
WHERE id = ?1 AND lease = ?2 AND leased AND due_at > ?3
    AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
