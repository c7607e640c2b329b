-- Ends the leases that were not replaced, and makes the deliveries due later.
WITH clock AS MATERIALIZED (
    SELECT coalesce($4::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), given AS MATERIALIZED (
    SELECT delivery.id, given.expired FROM forum_api_deliveries delivery
    JOIN unnest($1::TEXT[], $2::BIGINT[], $3::BOOLEAN[]) AS given (id, lease, expired)
        ON given.id = delivery.id AND given.lease = delivery.lease
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
)
UPDATE forum_api_deliveries delivery
SET due_at = clock.now + $5, due_set_at = clock.now, lease = delivery.lease + 1, leased = FALSE, sending = given.expired
FROM given CROSS JOIN clock WHERE delivery.id = given.id
