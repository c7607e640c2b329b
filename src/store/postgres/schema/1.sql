CREATE TABLE forum_api_tokens (
    lookup TEXT COLLATE "C" PRIMARY KEY,
    digest BYTEA NOT NULL,
    owner TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);

CREATE TABLE forum_api_idempotency_keys (
    token TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    request BYTEA NOT NULL,
    began_at BIGINT NOT NULL,
    ended BOOLEAN NOT NULL DEFAULT FALSE,
    status INTEGER,
    location TEXT,
    body BYTEA,
    forum_id TEXT,
    thread_id TEXT,
    post_id TEXT,
    PRIMARY KEY (token, key)
);

CREATE INDEX forum_api_idempotency_keys_by_age ON forum_api_idempotency_keys (began_at);
