ALTER TABLE forum_api_endpoints
    ADD COLUMN failing_since BIGINT,
    ADD COLUMN auto_disabled BOOLEAN NOT NULL DEFAULT FALSE;
