-- Removes events from the beginning of the feed that were fanned out before `?1`. A trigger deletes those without deliveries.
UPDATE forum_api_events SET in_feed = FALSE WHERE number IN (
    SELECT number FROM (
        SELECT number, min(coalesce(fanned_out_at < ?1, FALSE)) OVER (ORDER BY position, number) AS is_expired
        FROM (
            SELECT number, position, fanned_out_at FROM forum_api_events
            WHERE in_feed ORDER BY position, number LIMIT ?2
        )
    )
    WHERE is_expired
)
