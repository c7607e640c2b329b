ALTER TABLE forum_api_tokens SET (fillfactor = 80);

ALTER TABLE forum_api_idempotency_keys SET (fillfactor = 80);

ALTER TABLE forum_api_events SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);

ALTER TABLE forum_api_deliveries SET (
    fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
