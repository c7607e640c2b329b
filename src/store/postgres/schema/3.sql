ALTER TABLE forum_api_tokens SET (fillfactor = 80);
ALTER TABLE forum_api_idempotency_keys SET (fillfactor = 80);
