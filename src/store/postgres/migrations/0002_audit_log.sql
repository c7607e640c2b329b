CREATE TABLE forum_api_audit_log (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    occurred_at BIGINT NOT NULL,
    actor TEXT,
    system_user TEXT,
    origin TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    count BIGINT NOT NULL
);

CREATE INDEX forum_api_audit_log_by_actor ON forum_api_audit_log (actor, number);
CREATE INDEX forum_api_audit_log_by_action ON forum_api_audit_log (action, number);
CREATE INDEX forum_api_audit_log_by_target ON forum_api_audit_log (target, number);
