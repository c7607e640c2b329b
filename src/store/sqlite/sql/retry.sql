-- Queues a finished delivery again, or makes a retrying delivery due, unless it is leased. A lease that was taken after
-- `?3` counts as expired. An attempt under an expired lease is not counted: otherwise the next claim would record its failure
-- instead of sending.
UPDATE forum_api_deliveries
SET state = CASE state WHEN 'retrying' THEN 'retrying' ELSE 'queued' END,
    attempts = CASE state WHEN 'retrying' THEN attempts ELSE 0 END,
    due_at = ?2, due_set_at = ?2, ended_at = NULL, leased = FALSE, sending = FALSE
WHERE id = ?1 AND state <> 'queued' AND NOT (leased AND due_at > ?2 AND due_set_at <= ?3)
    AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = endpoint)
