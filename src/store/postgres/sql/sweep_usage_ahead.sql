-- Skips locked rows.
WITH ahead AS MATERIALIZED (
    SELECT ctid FROM forum_api_usage
    WHERE hour > ?1 ORDER BY hour DESC, token DESC, operation DESC LIMIT ?2 FOR UPDATE SKIP LOCKED
)
DELETE FROM forum_api_usage WHERE ctid = ANY (ARRAY(SELECT ctid FROM ahead))
