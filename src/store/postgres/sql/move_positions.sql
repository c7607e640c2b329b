-- Moves the positions of events that another cluster, or SQLite, wrote before those of this cluster, and keeps their order.
UPDATE forum_api_events SET position = position - 4611686018427387904
WHERE in_feed AND position >= CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)
