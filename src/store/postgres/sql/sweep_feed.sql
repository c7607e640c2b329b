-- Removes events from the beginning of the feed that were fanned out longer ago than `$2`. Sets fan-out times that are more
-- than `$3` ahead to the current time: a clock that was ahead recorded them.
-- Keeps events that readers do not see yet because an earlier transaction is open, also in another database of the cluster.
-- A trigger deletes removed events without deliveries. Skips locked rows.
WITH clock AS MATERIALIZED (
    SELECT coalesce($1::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), oldest AS MATERIALIZED (
    SELECT number, position, fanned_out_at FROM forum_api_events
    WHERE in_feed ORDER BY position, number LIMIT $4
), marked AS (
    SELECT number, bool_and(
        coalesce(fanned_out_at < (SELECT now FROM clock) - $2, FALSE)
            AND position < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)
    ) OVER (ORDER BY position, number) AS is_expired
    FROM oldest
), locked AS MATERIALIZED (
    SELECT number FROM forum_api_events
    WHERE number = ANY (ARRAY(SELECT number FROM marked WHERE is_expired)) AND in_feed
    FOR UPDATE SKIP LOCKED
), ahead AS MATERIALIZED (
    SELECT number FROM forum_api_events
    WHERE number = ANY (ARRAY(SELECT number FROM oldest WHERE fanned_out_at > (SELECT now FROM clock) + $3)) AND in_feed
    FOR UPDATE SKIP LOCKED
), corrected AS (
    UPDATE forum_api_events SET fanned_out_at = (SELECT now FROM clock)
    WHERE number = ANY (ARRAY(SELECT number FROM ahead))
)
UPDATE forum_api_events SET in_feed = FALSE WHERE number = ANY (ARRAY(SELECT number FROM locked))
