ALTER TABLE forum_api_endpoints ADD COLUMN failing_since INTEGER;
ALTER TABLE forum_api_endpoints ADD COLUMN auto_disabled INTEGER NOT NULL DEFAULT FALSE;
