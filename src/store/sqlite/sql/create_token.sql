INSERT INTO forum_api_tokens
    (lookup, digest, owner, label, scopes, created_at, expires_at, revoked_at, last_used_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (lookup) DO NOTHING
