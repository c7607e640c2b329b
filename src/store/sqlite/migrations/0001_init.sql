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

CREATE INDEX forum_api_tokens_by_age ON forum_api_tokens (created_at, lookup);
CREATE INDEX forum_api_tokens_by_owner ON forum_api_tokens (owner, created_at, lookup);
CREATE INDEX forum_api_tokens_not_revoked ON forum_api_tokens (created_at, lookup, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX forum_api_tokens_revoked ON forum_api_tokens (created_at, lookup) WHERE revoked_at IS NOT NULL;
CREATE INDEX forum_api_tokens_by_expiry ON forum_api_tokens (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX forum_api_tokens_by_revocation ON forum_api_tokens (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TABLE forum_api_idempotency_keys (
    namespace TEXT NOT NULL,
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
    PRIMARY KEY (namespace, key)
) STRICT;

CREATE INDEX forum_api_idempotency_keys_by_age ON forum_api_idempotency_keys (began_at);

CREATE TABLE forum_api_events (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 64 AND id NOT GLOB '*[^A-Za-z0-9_-]*'),
    topic TEXT NOT NULL CHECK (
        topic = 'ping'
        OR length(topic) <= 64 AND topic GLOB '*.*' AND topic NOT GLOB '*[^a-z_.]*'
            AND topic NOT GLOB '.*' AND topic NOT GLOB '*.' AND topic NOT GLOB '*..*'
    ),
    occurred_at INTEGER NOT NULL,
    forum TEXT CHECK (length(forum) BETWEEN 1 AND 64 AND forum NOT GLOB '*[^A-Za-z0-9_-]*'),
    request_id TEXT,
    fanned_out_at INTEGER,
    quarantine_reason TEXT,
    in_feed INTEGER NOT NULL DEFAULT TRUE,
    -- The feed is in the order of position and number. All events of SQLite have this position, and are in the order of their
    -- numbers. A copy of Postgres has earlier ones.
    position INTEGER NOT NULL DEFAULT 4611686018427387904,
    -- Ids of the members whom a message or a rating concerns, in quotes. The feed reads them, because the body of a rating can be
    -- long. They precede the body, because SQLite reads a long column to reach the next one.
    parties TEXT GENERATED ALWAYS AS (
        CASE
            WHEN topic NOT IN ('message.sent', 'member.rated') OR NOT json_valid(body) THEN NULL
            WHEN topic = 'message.sent' THEN json_extract(body, '$.data.message')
            ELSE '"' || coalesce(json_extract(body, '$.data.member.userId'), '') || '","'
                || coalesce(json_extract(body, '$.data.actor.userId'), '') || '"'
        END
    ) STORED,
    body TEXT NOT NULL CHECK (
        length(CAST(body AS BLOB)) <= 262066
        AND CASE WHEN json_valid(body) THEN json_type(body) = 'object' ELSE FALSE END
    )
) STRICT;

CREATE INDEX forum_api_events_waiting ON forum_api_events (occurred_at, number)
WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL;
CREATE INDEX forum_api_events_feed ON forum_api_events (position, number, fanned_out_at) WHERE in_feed;
CREATE INDEX forum_api_events_by_time ON forum_api_events (occurred_at, number) WHERE in_feed;
CREATE INDEX forum_api_events_quarantined ON forum_api_events (number) WHERE quarantine_reason IS NOT NULL;

CREATE TABLE forum_api_endpoints (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    topics TEXT NOT NULL,
    owner TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    secret BLOB NOT NULL,
    pending_secret BLOB,
    pending_from INTEGER,
    version INTEGER NOT NULL,
    failing_since INTEGER,
    is_slow INTEGER NOT NULL DEFAULT FALSE,
    auto_disabled INTEGER NOT NULL DEFAULT FALSE
) STRICT;

CREATE TABLE forum_api_webhook_key (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    key_id TEXT NOT NULL CHECK (length(key_id) BETWEEN 1 AND 64 AND key_id NOT GLOB '*[^A-Za-z0-9_-]*')
) STRICT;

CREATE TABLE forum_api_deliveries (
    id TEXT PRIMARY KEY,
    event TEXT NOT NULL REFERENCES forum_api_events (id),
    topic TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    -- First digit of the status of the last attempt, 0 without a response.
    status_class INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    -- Time from which `due_at` was computed. If it is more than 60 s after now, the clock was ahead.
    due_set_at INTEGER NOT NULL DEFAULT 0,
    ended_at INTEGER,
    lease INTEGER NOT NULL DEFAULT 0,
    leased INTEGER NOT NULL DEFAULT FALSE,
    sending INTEGER NOT NULL DEFAULT FALSE
) STRICT;

CREATE INDEX forum_api_deliveries_pending ON forum_api_deliveries (endpoint, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX forum_api_deliveries_ended ON forum_api_deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX forum_api_deliveries_due_set ON forum_api_deliveries (due_set_at) WHERE due_at IS NOT NULL;
CREATE INDEX forum_api_deliveries_by_event ON forum_api_deliveries (event);
CREATE INDEX forum_api_deliveries_by_state ON forum_api_deliveries (state, created_at, id, endpoint, status_class);
CREATE INDEX forum_api_deliveries_by_endpoint ON forum_api_deliveries (endpoint, state, created_at, id, status_class);
CREATE INDEX forum_api_deliveries_by_topic ON forum_api_deliveries (topic, state, created_at, id, status_class);
CREATE INDEX forum_api_deliveries_by_endpoint_topic ON forum_api_deliveries (endpoint, topic, state, created_at, id, status_class);

CREATE TABLE forum_api_attempts (
    delivery TEXT NOT NULL REFERENCES forum_api_deliveries ON DELETE CASCADE,
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    sent INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    answer TEXT,
    request_headers TEXT,
    response_headers TEXT,
    PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER forum_api_events_end AFTER DELETE ON forum_api_deliveries
BEGIN
    DELETE FROM forum_api_events
    WHERE id = OLD.event AND fanned_out_at IS NOT NULL AND NOT in_feed
        AND NOT EXISTS (SELECT 1 FROM forum_api_deliveries WHERE event = OLD.event);
END;

CREATE TRIGGER forum_api_events_leave_feed AFTER UPDATE OF in_feed ON forum_api_events
WHEN OLD.in_feed AND NOT NEW.in_feed
BEGIN
    DELETE FROM forum_api_events
    WHERE id = NEW.id AND fanned_out_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM forum_api_deliveries WHERE event = NEW.id);
END;

CREATE TABLE forum_api_audit_log (
    id TEXT NOT NULL PRIMARY KEY,
    occurred_at INTEGER NOT NULL,
    actor TEXT,
    os_user TEXT,
    origin TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    count INTEGER NOT NULL
) STRICT;

CREATE INDEX forum_api_audit_log_by_time ON forum_api_audit_log (occurred_at, id);
CREATE INDEX forum_api_audit_log_by_actor ON forum_api_audit_log (actor, occurred_at, id);
CREATE INDEX forum_api_audit_log_by_action ON forum_api_audit_log (action, occurred_at, id);
CREATE INDEX forum_api_audit_log_by_actor_action ON forum_api_audit_log (actor, action, occurred_at, id);
CREATE INDEX forum_api_audit_log_by_target ON forum_api_audit_log (target, occurred_at, id);

-- The token is empty for the requests of guests.
CREATE TABLE forum_api_usage (
    hour INTEGER NOT NULL,
    token TEXT NOT NULL,
    requests INTEGER NOT NULL,
    units INTEGER NOT NULL,
    rate_limited INTEGER NOT NULL,
    unauthenticated INTEGER NOT NULL,
    forbidden INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (hour, token)
) STRICT, WITHOUT ROWID;

CREATE INDEX forum_api_usage_by_token ON forum_api_usage (token, hour);
CREATE INDEX forum_api_usage_by_requests ON forum_api_usage (hour, requests, token);

-- The same requests by operation, which is empty for requests without one. Its number of rows does not grow with the tokens.
CREATE TABLE forum_api_operation_usage (
    hour INTEGER NOT NULL,
    operation TEXT NOT NULL,
    requests INTEGER NOT NULL,
    units INTEGER NOT NULL,
    rate_limited INTEGER NOT NULL,
    unauthenticated INTEGER NOT NULL,
    forbidden INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (hour, operation)
) STRICT, WITHOUT ROWID;
