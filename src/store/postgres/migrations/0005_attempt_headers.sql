ALTER TABLE forum_api_attempts
    ADD COLUMN request_headers TEXT,
    ADD COLUMN response_headers TEXT;
