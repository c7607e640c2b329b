-- Ends the leases that were not replaced, and records the attempts. The results of an endpoint apply in their order: a failure
-- after a success begins new failures.
WITH clock AS MATERIALIZED (
    SELECT coalesce($2::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
), given AS MATERIALIZED (
    SELECT * FROM unnest(
        $3::TEXT[], $4::BIGINT[], $5::TEXT[], $6::INTEGER[], $7::BIGINT[], $8::BOOLEAN[],
        $9::INTEGER[], $10::BIGINT[], $11::INTEGER[], $12::TEXT[], $13::BOOLEAN[],
        $14::BIGINT[], $15::TEXT[], $16::TEXT[], $17::TEXT[]
    ) WITH ORDINALITY AS given (
        id, lease, state, attempts, due_in, has_ended,
        attempt, at, status, error, sent, duration_ms, answer, request_headers, response_headers, position
    )
), held AS MATERIALIZED (
    SELECT delivery.id FROM forum_api_deliveries delivery JOIN given USING (id, lease)
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM given)) AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
), settled AS (
    UPDATE forum_api_deliveries delivery
    SET state = given.state, attempts = given.attempts, due_at = clock.now + given.due_in, due_set_at = clock.now,
        ended_at = CASE WHEN given.has_ended THEN clock.now END,
        status_class = CASE WHEN given.attempt IS NULL THEN delivery.status_class ELSE coalesce(given.status / 100, 0) END,
        lease = delivery.lease + 1, leased = FALSE, sending = FALSE
    FROM given CROSS JOIN clock
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM held)) AND given.id = delivery.id
    RETURNING delivery.id
), result AS MATERIALIZED (
    SELECT delivery.endpoint, bool_or(given.state = 'delivered') AS has_success,
        (array_agg(given.state <> 'delivered' ORDER BY given.position DESC))[1] AS is_failing,
        (array_agg(coalesce(given.duration_ms > 1000, FALSE) ORDER BY given.position DESC))[1] AS is_slow
    FROM held JOIN given USING (id) JOIN forum_api_deliveries delivery USING (id)
    WHERE given.state = 'delivered' OR given.attempt IS NOT NULL AND given.state IN ('retrying', 'dead', 'gone')
    GROUP BY delivery.endpoint
), changed_endpoint AS MATERIALIZED (
    SELECT endpoint.id, result.has_success, result.is_failing, result.is_slow
    FROM forum_api_endpoints endpoint JOIN result ON result.endpoint = endpoint.id
    WHERE (endpoint.failing_since IS NOT NULL) <> result.is_failing OR result.is_failing AND result.has_success
        OR endpoint.is_slow <> result.is_slow
    ORDER BY endpoint.id FOR NO KEY UPDATE OF endpoint
), health AS (
    UPDATE forum_api_endpoints endpoint
    SET failing_since = CASE
            WHEN changed_endpoint.is_failing AND changed_endpoint.has_success THEN clock.now
            WHEN changed_endpoint.is_failing THEN coalesce(endpoint.failing_since, clock.now)
        END,
        is_slow = changed_endpoint.is_slow
    FROM changed_endpoint CROSS JOIN clock WHERE endpoint.id = changed_endpoint.id
), latest AS MATERIALIZED (
    SELECT id, coalesce((SELECT max(number) FROM forum_api_attempts WHERE delivery = settled.id), 0) AS number
    FROM settled
), logged AS (
    INSERT INTO forum_api_attempts
        (delivery, number, attempt, at, status, error, sent, duration_ms, answer, request_headers, response_headers)
    SELECT id, number + 1, attempt, at, status, error, sent, duration_ms, answer, request_headers, response_headers
    FROM latest JOIN given USING (id) WHERE attempt IS NOT NULL
), forgotten AS (
    DELETE FROM forum_api_attempts old USING latest JOIN given USING (id)
    WHERE old.delivery = ANY (ARRAY(SELECT id FROM latest WHERE number >= $1))
        AND old.delivery = latest.id AND old.number <= latest.number + 1 - $1
        AND given.attempt IS NOT NULL
)
SELECT id FROM settled
