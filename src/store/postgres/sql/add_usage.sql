-- The rows are in the order of the key, so that concurrent statements lock them in the same order.
INSERT INTO forum_api_usage AS stored
    (hour, token, operation, requests, units, rate_limited, unauthenticated, forbidden, rejected, errors)
SELECT * FROM unnest(
    $1::BIGINT[], $2::TEXT[], $3::TEXT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[], $7::BIGINT[], $8::BIGINT[],
    $9::BIGINT[], $10::BIGINT[]
)
ON CONFLICT (hour, token, operation) DO UPDATE SET
    requests = stored.requests + excluded.requests,
    units = stored.units + excluded.units,
    rate_limited = stored.rate_limited + excluded.rate_limited,
    unauthenticated = stored.unauthenticated + excluded.unauthenticated,
    forbidden = stored.forbidden + excluded.forbidden,
    rejected = stored.rejected + excluded.rejected,
    errors = stored.errors + excluded.errors
