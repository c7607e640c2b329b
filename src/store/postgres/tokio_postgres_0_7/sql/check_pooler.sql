SELECT
    (SELECT count(*) FROM pg_prepared_statements WHERE name ~ '^s[0-9]+$' AND statement LIKE '%AS unsuitable_default%'),
    (
        SELECT name || ' = ' || reset_val FROM pg_settings
        WHERE CASE
            WHEN name = 'default_transaction_isolation' THEN reset_val <> 'read committed'
            WHEN name IN (
                'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout', 'lock_timeout',
                'idle_session_timeout'
            ) THEN CAST(reset_val AS BIGINT) BETWEEN 1 AND 9999
            ELSE FALSE
        END
        ORDER BY name LIMIT 1
    ) AS unsuitable_default
