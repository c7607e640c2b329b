-- Deletes a delivery of an endpoint that exists. Locks its event.
WITH event AS MATERIALIZED (
    SELECT event.id FROM forum_api_deliveries delivery JOIN forum_api_events event ON event.id = delivery.event
    WHERE delivery.id = $1 FOR UPDATE OF event
)
DELETE FROM forum_api_deliveries delivery USING event
WHERE delivery.id = $1 AND delivery.event = event.id
    AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
