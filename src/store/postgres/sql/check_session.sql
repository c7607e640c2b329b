-- Selects the settings of the driver's sessions that the library needs, and a time limit that is too short for it.
SELECT current_setting('server_encoding') AS encoding, current_setting('transaction_isolation') AS isolation, (
    SELECT name || ' = ' || setting || ' ms' FROM pg_settings
    WHERE name IN (
        'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout', 'lock_timeout',
        'idle_session_timeout'
    ) AND CAST(setting AS BIGINT) BETWEEN 1 AND 9999
    ORDER BY name LIMIT 1
) AS short_limit
