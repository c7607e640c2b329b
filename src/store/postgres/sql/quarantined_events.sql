-- Counts the quarantined events up to `$2`, and finds the latest `$1`.
SELECT counted.count, latest.id, latest.quarantine_reason
FROM (
    SELECT count(*) FROM (SELECT FROM forum_api_events WHERE quarantine_reason IS NOT NULL LIMIT $2) few
) counted
LEFT JOIN (
    SELECT number, id, quarantine_reason FROM forum_api_events WHERE quarantine_reason IS NOT NULL
    ORDER BY number DESC LIMIT $1
) latest ON TRUE
ORDER BY latest.number DESC
