CREATE INDEX forum_api_tokens_by_owner ON forum_api_tokens (owner, created_at, lookup);
CREATE INDEX forum_api_tokens_not_revoked ON forum_api_tokens (created_at, lookup, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX forum_api_tokens_revoked ON forum_api_tokens (created_at, lookup) WHERE revoked_at IS NOT NULL;
