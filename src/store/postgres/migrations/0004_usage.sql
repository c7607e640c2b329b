CREATE TABLE forum_api_usage (
    hour BIGINT NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL,
    units BIGINT NOT NULL,
    rate_limited BIGINT NOT NULL,
    unauthenticated BIGINT NOT NULL,
    forbidden BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    PRIMARY KEY (hour, token)
) WITH (fillfactor = 80);
