-- Corrects what a clock wrote that was more than `$2` ahead. Sets to the current time: due times, ends of deliveries,
-- creations of dead ones, and starts of failures. Sets the registration of an endpoint to `$2` before the current time, or
-- before the earliest event that waits for its fan-out: until now, the registration counted as reached, and the endpoint
-- receives these events, also those of a clock that is behind. Skips locked rows.
WITH clock AS MATERIALIZED (
    SELECT coalesce($1::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), due AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries
    WHERE due_at IS NOT NULL AND due_set_at > (SELECT now FROM clock) + $2
    ORDER BY due_set_at DESC LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
), ended AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries
    WHERE ended_at > (SELECT now FROM clock) + $2
    ORDER BY ended_at DESC LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
), dead AS MATERIALIZED (
    SELECT id FROM forum_api_deliveries
    WHERE state = 'dead' AND created_at > (SELECT now FROM clock) + $2
    ORDER BY created_at DESC, id DESC LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
), ahead AS MATERIALIZED (
    SELECT id FROM forum_api_endpoints
    WHERE failing_since > (SELECT now FROM clock) + $2 OR created_at > (SELECT now FROM clock) + $2
    LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
), delivery AS (
    UPDATE forum_api_deliveries SET
        due_at = CASE WHEN due_at IS NOT NULL THEN (SELECT now FROM clock) END, due_set_at = (SELECT now FROM clock),
        ended_at = CASE WHEN ended_at IS NOT NULL THEN (SELECT now FROM clock) END,
        created_at = CASE WHEN id IN (SELECT id FROM dead) THEN (SELECT now FROM clock) ELSE created_at END
    WHERE id = ANY (ARRAY(
        SELECT id FROM due UNION ALL SELECT id FROM ended UNION ALL SELECT id FROM dead
    ))
    RETURNING TRUE
), endpoint AS (
    UPDATE forum_api_endpoints SET
        failing_since = CASE
            WHEN failing_since > (SELECT now FROM clock) + $2 THEN (SELECT now FROM clock)
            ELSE failing_since
        END,
        created_at = CASE
            WHEN created_at > (SELECT now FROM clock) + $2 THEN least((SELECT now FROM clock), (
                SELECT min(occurred_at) FROM forum_api_events
                WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL
            )) - $2
            ELSE created_at
        END
    WHERE id = ANY (ARRAY(SELECT id FROM ahead))
    RETURNING TRUE
)
SELECT (SELECT count(*) FROM delivery) + (SELECT count(*) FROM endpoint) AS corrected
