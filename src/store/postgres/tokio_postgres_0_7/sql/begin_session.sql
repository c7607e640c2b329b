-- Returns the encoding of the database.
SELECT current_setting('server_encoding'), (
    SELECT count(set_config(name, value, FALSE))
    FROM pg_settings JOIN (VALUES
        ('default_transaction_isolation', 'read committed'),
        ('statement_timeout', '10s'),
        ('idle_in_transaction_session_timeout', '20s'),
        ('transaction_timeout', '0'), -- since Postgres 17
        ('lock_timeout', '0'),
        ('idle_session_timeout', '0'),
        ('jit', 'off') -- compiling a statement takes longer than running it
    ) AS needed (name, value) USING (name)
    WHERE source <> 'client' OR name = 'default_transaction_isolation'
)
