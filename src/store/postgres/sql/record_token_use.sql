-- Does not wait for another statement that records a use, and its commit does not wait for the disk
-- (`synchronous_commit`). A recorded use up to `$3` is replaced, and one from `$4` on, because its clock was ahead.
WITH noted AS (
    SELECT lookup, set_config('synchronous_commit', 'off', TRUE) FROM forum_api_tokens
    WHERE lookup = $1 AND (last_used_at IS NULL OR last_used_at <= $3 OR last_used_at >= $4)
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE forum_api_tokens SET last_used_at = $2 FROM noted WHERE forum_api_tokens.lookup = noted.lookup
