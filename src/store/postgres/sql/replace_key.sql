-- `$1` is null when no key is recorded yet.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($3::TEXT[], $4::BIGINT[], $5::BYTEA[], $6::BYTEA[]) AS given (id, version, secret, pending)
), stored AS MATERIALIZED (
    SELECT id, version FROM forum_api_endpoints WHERE id IN (SELECT id FROM given) ORDER BY id FOR UPDATE
), recorded AS (
    INSERT INTO forum_api_webhook_key AS record (only_row, key_id)
    SELECT TRUE, $2
    WHERE (SELECT count(*) FROM given) = (SELECT count(*) FROM stored JOIN given USING (id, version))
        AND ($1::TEXT IS NULL OR EXISTS (SELECT FROM forum_api_webhook_key WHERE key_id = $1))
    ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id WHERE record.key_id = $1
    RETURNING key_id
), replaced AS (
    UPDATE forum_api_endpoints endpoint
    SET version = endpoint.version + 1, secret = given.secret, pending_secret = given.pending
    FROM given, recorded WHERE endpoint.id = given.id
)
