-- Scans the endpoints in the index, and deletes the deliveries of removed endpoints.
DELETE FROM forum_api_deliveries WHERE rowid IN (
    WITH RECURSIVE hop (endpoint) AS (
        SELECT min(endpoint) FROM forum_api_deliveries
        UNION ALL
        SELECT (SELECT min(endpoint) FROM forum_api_deliveries WHERE endpoint > hop.endpoint)
        FROM hop WHERE hop.endpoint IS NOT NULL)
    SELECT delivery.rowid FROM hop
    CROSS JOIN forum_api_deliveries delivery ON delivery.endpoint = hop.endpoint
    WHERE hop.endpoint NOT IN (SELECT id FROM forum_api_endpoints) LIMIT ?1)
