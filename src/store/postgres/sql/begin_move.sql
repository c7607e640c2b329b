-- Begins a move of the events that another cluster, or SQLite, wrote, if there are any: those with the position of a transaction
-- that has not begun here, and those with smaller numbers.
INSERT INTO forum_api_feed_move (only_row, last_number, position)
SELECT TRUE, written.last_number, coalesce(
    (SELECT max(position) FROM forum_api_events WHERE in_feed AND position < 0), -4611686018427387904
)
FROM (
    -- The addition prevents a scan of the numbers from the last one.
    SELECT max(number + 0) AS last_number FROM forum_api_events
    WHERE in_feed AND position >= CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)
        AND NOT EXISTS (SELECT FROM forum_api_feed_move)
) written
WHERE written.last_number IS NOT NULL
ON CONFLICT (only_row) DO NOTHING
