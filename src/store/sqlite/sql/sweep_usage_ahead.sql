DELETE FROM forum_api_usage WHERE (hour, token, operation) >= (
    SELECT hour, token, operation FROM (
        SELECT hour, token, operation FROM forum_api_usage
        WHERE hour > ?1 ORDER BY hour DESC, token DESC, operation DESC LIMIT ?2
    ) page
    ORDER BY hour, token, operation LIMIT 1)
