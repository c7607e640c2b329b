CREATE TABLE forum_api_audit_log (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    occurred_at INTEGER NOT NULL,
    actor TEXT,
    system_user TEXT,
    origin TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    count INTEGER NOT NULL
) STRICT;

CREATE INDEX forum_api_audit_log_by_actor ON forum_api_audit_log (actor, number);
CREATE INDEX forum_api_audit_log_by_action ON forum_api_audit_log (action, number);
CREATE INDEX forum_api_audit_log_by_target ON forum_api_audit_log (target, number);
