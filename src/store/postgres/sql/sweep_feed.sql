-- Removes events from the beginning of the feed that were fanned out before `$1`, and sets the fan-outs after `$2` to this time.
-- Keeps events that readers do not see yet because an earlier transaction is open, also in another database of the cluster.
-- A trigger deletes removed events without deliveries. Skips locked rows.
WITH oldest AS MATERIALIZED (
    SELECT number, position, fanned_out_at FROM forum_api_events
    WHERE in_feed ORDER BY position, number LIMIT $3
), marked AS (
    SELECT number, bool_and(
        coalesce(fanned_out_at < $1, FALSE)
            AND position < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)
    ) OVER (ORDER BY position, number) AS is_expired
    FROM oldest
), locked AS MATERIALIZED (
    SELECT number FROM forum_api_events
    WHERE number = ANY (ARRAY(SELECT number FROM marked WHERE is_expired)) AND in_feed
    FOR UPDATE SKIP LOCKED
), ahead AS MATERIALIZED (
    SELECT number FROM forum_api_events
    WHERE number = ANY (ARRAY(SELECT number FROM oldest WHERE fanned_out_at > $2)) AND in_feed
    FOR UPDATE SKIP LOCKED
), corrected AS (
    UPDATE forum_api_events SET fanned_out_at = $2 WHERE number = ANY (ARRAY(SELECT number FROM ahead))
)
UPDATE forum_api_events SET in_feed = FALSE WHERE number = ANY (ARRAY(SELECT number FROM locked))
