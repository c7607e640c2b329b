-- Skips locked rows.
WITH old AS MATERIALIZED (
    SELECT ctid FROM forum_api_usage
    WHERE hour < ?1 ORDER BY hour, token, operation LIMIT ?2 FOR UPDATE SKIP LOCKED
)
DELETE FROM forum_api_usage WHERE ctid = ANY (ARRAY(SELECT ctid FROM old))
