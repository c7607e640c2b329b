-- Each latency column counts the responses from the bound of the column before to its own.
CREATE TABLE forum_api_operation_usage (
    hour BIGINT NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL,
    units BIGINT NOT NULL,
    rate_limited BIGINT NOT NULL,
    unauthenticated BIGINT NOT NULL,
    forbidden BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    latency_ms BIGINT NOT NULL,
    under_5_ms BIGINT NOT NULL,
    under_10_ms BIGINT NOT NULL,
    under_25_ms BIGINT NOT NULL,
    under_50_ms BIGINT NOT NULL,
    under_100_ms BIGINT NOT NULL,
    under_250_ms BIGINT NOT NULL,
    under_500_ms BIGINT NOT NULL,
    under_1_s BIGINT NOT NULL,
    under_5_s BIGINT NOT NULL,
    from_5_s BIGINT NOT NULL,
    PRIMARY KEY (hour, operation)
) WITH (fillfactor = 80);
