DELETE FROM forum_api_usage WHERE (hour, token, operation) IN (
    SELECT hour, token, operation FROM forum_api_usage
    WHERE hour < ?1 ORDER BY hour, token, operation LIMIT ?2)
