-- Reserves the key if it is free or expired, or returns its record. Returns no row if another request reserved or released
-- the key at the same time. A key that began more than `$5` ahead is expired as well: its clock was ahead. A statement that reserves a key also deletes a few expired ones.
WITH clock AS MATERIALIZED (
    SELECT coalesce($4::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), taken AS (
    INSERT INTO forum_api_idempotency_keys AS stored (namespace, key, request, began_at)
    SELECT $1, $2, $3, now FROM clock
    ON CONFLICT (namespace, key) DO UPDATE SET
        request = EXCLUDED.request, began_at = EXCLUDED.began_at, ended = FALSE,
        status = NULL, location = NULL, body = NULL, forum_id = NULL, thread_id = NULL, post_id = NULL
    WHERE stored.began_at <= (SELECT now FROM clock) - $5 OR stored.began_at > (SELECT now FROM clock) + $5
    RETURNING TRUE AS first, stored.*
), forgotten AS (
    DELETE FROM forum_api_idempotency_keys WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM forum_api_idempotency_keys
        WHERE began_at <= (SELECT now FROM clock) - $5 AND (namespace, key) <> ($1, $2) AND EXISTS (SELECT FROM taken)
        ORDER BY began_at LIMIT 8 FOR UPDATE SKIP LOCKED
    ))
)
SELECT (SELECT now FROM clock) AS now, first, request, began_at, ended, status, location, body, forum_id, thread_id, post_id
FROM (
    SELECT * FROM taken
    UNION ALL
    SELECT FALSE, * FROM forum_api_idempotency_keys
    WHERE namespace = $1 AND key = $2 AND began_at > (SELECT now FROM clock) - $5
        AND began_at <= (SELECT now FROM clock) + $5 AND NOT EXISTS (SELECT FROM taken)
) AS record
