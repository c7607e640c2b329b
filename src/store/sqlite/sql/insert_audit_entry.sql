-- Adds the number of records to an entry that is stored.
INSERT INTO forum_api_audit_log AS entry
    (id, occurred_at, actor, system_user, origin, address, action, target, details, count)
VALUES (?1, CAST(?2 AS INTEGER), NULLIF(?3, ''), NULLIF(?4, ''), ?5, NULLIF(?6, ''), ?7, ?8, ?9, ?10)
ON CONFLICT (id) DO UPDATE SET count = entry.count + excluded.count
