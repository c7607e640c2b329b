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
) WITH (fillfactor = 80);

CREATE INDEX forum_api_tokens_by_age ON forum_api_tokens (created_at, lookup);
CREATE INDEX forum_api_tokens_by_owner ON forum_api_tokens (owner, created_at, lookup);
CREATE INDEX forum_api_tokens_not_revoked ON forum_api_tokens (created_at, lookup, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX forum_api_tokens_revoked ON forum_api_tokens (created_at, lookup) WHERE revoked_at IS NOT NULL;
CREATE INDEX forum_api_tokens_by_expiry ON forum_api_tokens (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX forum_api_tokens_by_revocation ON forum_api_tokens (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TABLE forum_api_idempotency_keys (
    namespace TEXT COLLATE "C" NOT NULL,
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
    PRIMARY KEY (namespace, key)
) WITH (fillfactor = 80);

CREATE INDEX forum_api_idempotency_keys_by_age ON forum_api_idempotency_keys (began_at);

CREATE TABLE forum_api_events (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE CHECK (id ~ '^[A-Za-z0-9_-]{1,64}$'),
    topic TEXT NOT NULL CHECK (topic ~ '^([a-z_]+([.][a-z_]+)+|ping)$' AND length(topic) <= 64),
    occurred_at BIGINT NOT NULL,
    forum TEXT CHECK (forum ~ '^[A-Za-z0-9_-]{1,64}$'),
    request_id TEXT,
    fanned_out_at BIGINT,
    quarantine_reason TEXT,
    in_feed BOOLEAN NOT NULL DEFAULT TRUE,
    -- The feed is in the order of position and number. The position is at least the number of the transaction, and at least
    -- that of each transaction that has ended before. So a change that depends on another one has a later position, and a
    -- position is final once all transactions up to it have ended. Events of another cluster have negative positions, after a
    -- move.
    position BIGINT NOT NULL DEFAULT greatest(
        pg_current_xact_id()::TEXT::BIGINT, pg_snapshot_xmax(pg_current_snapshot())::TEXT::BIGINT - 1
    ),
    -- Ids of the members whom a message or a rating concerns, in quotes. The feed reads them, because the body of a rating can be
    -- long. They are null for a body with U+0000, whose parts Postgres does not return.
    parties TEXT GENERATED ALWAYS AS (
        CASE
            WHEN topic NOT IN ('message.sent', 'member.rated') OR strpos(body, chr(92) || 'u0000') > 0 THEN NULL
            WHEN topic = 'message.sent' THEN body::JSON #>> '{data,message}'
            ELSE '"' || coalesce(body::JSON #>> '{data,member,userId}', '') || '","'
                || coalesce(body::JSON #>> '{data,actor,userId}', '') || '"'
        END
    ) STORED,
    body TEXT NOT NULL CHECK (octet_length(body) <= 262066 AND json_typeof(body::JSON) = 'object')
) WITH (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX forum_api_events_waiting ON forum_api_events (occurred_at, number)
WHERE fanned_out_at IS NULL AND quarantine_reason IS NULL;
CREATE INDEX forum_api_events_feed ON forum_api_events (position, number) INCLUDE (fanned_out_at) WHERE in_feed;
CREATE INDEX forum_api_events_by_time ON forum_api_events (occurred_at, number) WHERE in_feed;
CREATE INDEX forum_api_events_quarantined ON forum_api_events (number) WHERE quarantine_reason IS NOT NULL;

-- A move of the events that another cluster wrote before those of this one. All events up to `last_number` move, in their order,
-- after `position`. Meanwhile readers see the moved events only.
CREATE TABLE forum_api_feed_move (
    only_row BOOLEAN PRIMARY KEY CHECK (only_row),
    last_number BIGINT NOT NULL,
    position BIGINT NOT NULL
);

CREATE TABLE forum_api_endpoints (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    url TEXT NOT NULL,
    topics TEXT NOT NULL,
    owner TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    secret BYTEA NOT NULL,
    pending_secret BYTEA,
    pending_from BIGINT,
    version BIGINT NOT NULL,
    failing_since BIGINT,
    is_slow BOOLEAN NOT NULL DEFAULT FALSE,
    auto_disabled BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE TABLE forum_api_webhook_key (
    only_row BOOLEAN PRIMARY KEY CHECK (only_row),
    key_id TEXT COLLATE "C" NOT NULL CHECK (key_id ~ '^[A-Za-z0-9_-]{1,64}$')
);

CREATE TABLE forum_api_deliveries (
    id TEXT COLLATE "C" PRIMARY KEY,
    event TEXT COLLATE "C" NOT NULL REFERENCES forum_api_events (id),
    topic TEXT NOT NULL,
    endpoint TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    -- First digit of the status of the last attempt, 0 without a response.
    status_class INTEGER NOT NULL DEFAULT 0,
    due_at BIGINT,
    -- Time from which `due_at` was computed. If it is more than 60 s after now, the clock was ahead.
    due_set_at BIGINT NOT NULL DEFAULT 0,
    ended_at BIGINT,
    lease BIGINT NOT NULL DEFAULT 0,
    leased BOOLEAN NOT NULL DEFAULT FALSE,
    sending BOOLEAN NOT NULL DEFAULT FALSE
) WITH (
    fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);

CREATE INDEX forum_api_deliveries_pending ON forum_api_deliveries (endpoint, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX forum_api_deliveries_ended ON forum_api_deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX forum_api_deliveries_due_set ON forum_api_deliveries (due_set_at) WHERE due_at IS NOT NULL;
CREATE INDEX forum_api_deliveries_by_event ON forum_api_deliveries (event);
CREATE INDEX forum_api_deliveries_by_state ON forum_api_deliveries (state, created_at, id, endpoint, status_class);
CREATE INDEX forum_api_deliveries_by_endpoint ON forum_api_deliveries (endpoint, state, created_at, id, status_class);
CREATE INDEX forum_api_deliveries_by_topic ON forum_api_deliveries (topic, state, created_at, id, status_class);
CREATE INDEX forum_api_deliveries_by_endpoint_topic ON forum_api_deliveries (endpoint, topic, state, created_at, id, status_class);

CREATE TABLE forum_api_attempts (
    delivery TEXT COLLATE "C" NOT NULL REFERENCES forum_api_deliveries ON DELETE CASCADE,
    number BIGINT NOT NULL,
    attempt INTEGER NOT NULL,
    at BIGINT NOT NULL,
    status INTEGER,
    error TEXT,
    sent BOOLEAN NOT NULL,
    duration_ms BIGINT NOT NULL,
    answer TEXT,
    request_headers TEXT,
    response_headers TEXT,
    PRIMARY KEY (delivery, number)
);

CREATE OR REPLACE FUNCTION forum_api_event_ends() RETURNS TRIGGER LANGUAGE plpgsql AS $ends$
BEGIN
    -- If two transactions delete the last deliveries at once, the second sees the deletion of the first.
    PERFORM FROM forum_api_events WHERE id = OLD.event FOR UPDATE;
    DELETE FROM forum_api_events
    WHERE id = OLD.event AND fanned_out_at IS NOT NULL AND NOT in_feed
        AND NOT EXISTS (SELECT FROM forum_api_deliveries WHERE event = OLD.event);
    RETURN NULL;
END
$ends$;

CREATE TRIGGER forum_api_events_end AFTER DELETE ON forum_api_deliveries
FOR EACH ROW EXECUTE FUNCTION forum_api_event_ends();

CREATE OR REPLACE FUNCTION forum_api_event_leaves_feed() RETURNS TRIGGER LANGUAGE plpgsql AS $leaves$
BEGIN
    DELETE FROM forum_api_events
    WHERE id = NEW.id AND fanned_out_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM forum_api_deliveries WHERE event = NEW.id);
    RETURN NULL;
END
$leaves$;

CREATE TRIGGER forum_api_events_leave_feed AFTER UPDATE OF in_feed ON forum_api_events
FOR EACH ROW WHEN (OLD.in_feed AND NOT NEW.in_feed) EXECUTE FUNCTION forum_api_event_leaves_feed();

CREATE TABLE forum_api_audit_log (
    id TEXT COLLATE "C" PRIMARY KEY,
    occurred_at BIGINT NOT NULL,
    actor TEXT,
    os_user TEXT,
    origin TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    count BIGINT NOT NULL
);

CREATE INDEX forum_api_audit_log_by_time ON forum_api_audit_log (occurred_at, id);
CREATE INDEX forum_api_audit_log_by_actor ON forum_api_audit_log (actor, occurred_at, id);
CREATE INDEX forum_api_audit_log_by_action ON forum_api_audit_log (action, occurred_at, id);
CREATE INDEX forum_api_audit_log_by_actor_action ON forum_api_audit_log (actor, action, occurred_at, id);
CREATE INDEX forum_api_audit_log_by_target ON forum_api_audit_log (target, occurred_at, id);

-- The token is empty for the requests of guests.
CREATE TABLE forum_api_usage (
    hour BIGINT NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL,
    units BIGINT NOT NULL,
    rate_limited BIGINT NOT NULL,
    unauthenticated BIGINT NOT NULL,
    forbidden BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    PRIMARY KEY (hour, token)
) WITH (fillfactor = 80);

CREATE INDEX forum_api_usage_by_token ON forum_api_usage (token, hour);
CREATE INDEX forum_api_usage_by_requests ON forum_api_usage (hour, requests, token);

-- The same requests by operation, which is empty for requests without one. Its number of rows does not grow with the tokens.
CREATE TABLE forum_api_operation_usage (
    hour BIGINT NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL,
    units BIGINT NOT NULL,
    rate_limited BIGINT NOT NULL,
    unauthenticated BIGINT NOT NULL,
    forbidden BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    PRIMARY KEY (hour, operation)
) WITH (fillfactor = 80);
