-- Adds to the counts of an operation in an hour.
INSERT INTO forum_api_operation_usage AS stored (
    hour, operation, requests, units, rate_limited, unauthenticated, forbidden, errors, latency_ms, under_5_ms,
    under_10_ms, under_25_ms, under_50_ms, under_100_ms, under_250_ms, under_500_ms, under_1_s, under_5_s,
    from_5_s
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
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
