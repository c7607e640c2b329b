-- Deliveries of a removed endpoint with this id would belong to the new one.
INSERT INTO forum_api_endpoints
    (id, version, url, topics, owner, enabled, created_at, secret, pending_secret, pending_from)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
WHERE NOT EXISTS (SELECT FROM forum_api_deliveries WHERE endpoint = $1)
ON CONFLICT (id) DO NOTHING
