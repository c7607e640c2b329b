CREATE INDEX forum_api_usage_by_token ON forum_api_usage (token, hour);
