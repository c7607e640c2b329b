-- The rows are in the order of the key, so that concurrent statements lock them in the same order.
INSERT INTO forum_api_operation_usage AS stored (
    hour, operation, requests, units, rate_limited, unauthenticated, forbidden, errors, latency_ms, under_5_ms,
    under_10_ms, under_25_ms, under_50_ms, under_100_ms, under_250_ms, under_500_ms, under_1_s, under_5_s,
    from_5_s
)
SELECT * FROM unnest(
    $1::BIGINT[], $2::TEXT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[], $7::BIGINT[],
    $8::BIGINT[], $9::BIGINT[], $10::BIGINT[], $11::BIGINT[], $12::BIGINT[], $13::BIGINT[], $14::BIGINT[],
    $15::BIGINT[], $16::BIGINT[], $17::BIGINT[], $18::BIGINT[], $19::BIGINT[]
)
ON CONFLICT (hour, operation) DO UPDATE SET
    requests = stored.requests + excluded.requests,
    units = stored.units + excluded.units,
    rate_limited = stored.rate_limited + excluded.rate_limited,
    unauthenticated = stored.unauthenticated + excluded.unauthenticated,
    forbidden = stored.forbidden + excluded.forbidden,
    errors = stored.errors + excluded.errors,
    latency_ms = stored.latency_ms + excluded.latency_ms,
    under_5_ms = stored.under_5_ms + excluded.under_5_ms,
    under_10_ms = stored.under_10_ms + excluded.under_10_ms,
    under_25_ms = stored.under_25_ms + excluded.under_25_ms,
    under_50_ms = stored.under_50_ms + excluded.under_50_ms,
    under_100_ms = stored.under_100_ms + excluded.under_100_ms,
    under_250_ms = stored.under_250_ms + excluded.under_250_ms,
    under_500_ms = stored.under_500_ms + excluded.under_500_ms,
    under_1_s = stored.under_1_s + excluded.under_1_s,
    under_5_s = stored.under_5_s + excluded.under_5_s,
    from_5_s = stored.from_5_s + excluded.from_5_s
