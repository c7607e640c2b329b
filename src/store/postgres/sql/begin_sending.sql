-- Marks the deliveries as being sent whose leases were not replaced and have not expired.
WITH clock AS MATERIALIZED (
    SELECT coalesce($3::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), held AS MATERIALIZED (
    SELECT delivery.id FROM forum_api_deliveries delivery
    JOIN unnest($1::TEXT[], $2::BIGINT[]) AS given (id, lease)
        ON given.id = delivery.id AND given.lease = delivery.lease
    WHERE delivery.leased AND delivery.due_at > (SELECT now FROM clock)
        AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
)
UPDATE forum_api_deliveries SET sending = TRUE WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING id
