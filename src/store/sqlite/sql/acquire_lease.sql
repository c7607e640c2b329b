-- Each claim, settlement and release of a delivery changes its lease.
UPDATE forum_api_deliveries SET due_at = ?3, due_set_at = ?5, lease = lease + 1, leased = TRUE
WHERE rowid = ?1 AND lease + 1 = ?2 AND CAST(id AS BLOB) = ?4
    AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint AND enabled)
