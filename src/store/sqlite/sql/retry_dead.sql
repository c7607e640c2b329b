-- Queues the oldest dead deliveries of an endpoint again, each one millisecond after the one before, so that they are sent in
-- the order of their events: after the ones that were queued like this before. Due times that were computed from a time after `?4`
-- count as reached.
UPDATE forum_api_deliveries SET state = 'queued', attempts = 0, due_at = ordered.due_at, due_set_at = ?2, ended_at = NULL
FROM (
    SELECT
        dead.number,
        max(?2, coalesce((
            SELECT max(due_at) + 1 FROM forum_api_deliveries
            WHERE endpoint = ?1 AND state = 'queued' AND NOT leased AND due_at >= ?2 AND due_set_at <= ?4
        ), 0)) + row_number() OVER (ORDER BY dead.created_at, dead.event_number) - 1 AS due_at
    FROM (
        SELECT delivery.rowid AS number, delivery.created_at, event.number AS event_number
        FROM forum_api_deliveries delivery CROSS JOIN forum_api_events event ON event.id = delivery.event
        WHERE delivery.endpoint = ?1 AND delivery.state = 'dead'
        ORDER BY delivery.created_at, event.number LIMIT ?3
    ) AS dead
) AS ordered
WHERE forum_api_deliveries.rowid = ordered.number AND EXISTS (SELECT 1 FROM forum_api_endpoints WHERE id = ?1)
