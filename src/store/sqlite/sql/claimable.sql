-- Returns a delivery with its event.
SELECT delivery.*, delivery.rowid AS number, event.occurred_at, event.forum, event.request_id, event.body
FROM forum_api_deliveries delivery
CROSS JOIN forum_api_events event ON event.id = delivery.event
WHERE delivery.rowid = ?1
