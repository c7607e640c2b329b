CREATE TABLE forum_api_tokens (
    lookup TEXT PRIMARY KEY,
    digest BLOB NOT NULL,
    owner TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE forum_api_idempotency_keys (
    token TEXT NOT NULL,
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    began_at INTEGER NOT NULL,
    ended INTEGER NOT NULL DEFAULT FALSE,
    status INTEGER,
    location TEXT,
    body BLOB,
    forum_id TEXT,
    thread_id TEXT,
    post_id TEXT,
    PRIMARY KEY (token, key)
) STRICT;

CREATE INDEX forum_api_idempotency_keys_by_age ON forum_api_idempotency_keys (began_at);
