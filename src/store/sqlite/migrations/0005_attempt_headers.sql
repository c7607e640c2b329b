ALTER TABLE forum_api_attempts ADD COLUMN request_headers TEXT;
ALTER TABLE forum_api_attempts ADD COLUMN response_headers TEXT;
