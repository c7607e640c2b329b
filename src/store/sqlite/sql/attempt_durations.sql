-- Counts attempts that sent a request by duration: five upper bounds, and the rest.
SELECT CASE WHEN duration_ms < ?2 THEN 0 WHEN duration_ms < ?3 THEN 1 WHEN duration_ms < ?4 THEN 2
    WHEN duration_ms < ?5 THEN 3 WHEN duration_ms < ?6 THEN 4 ELSE 5 END AS size, count(*) AS count
FROM forum_api_attempts WHERE at > ?1 AND (status IS NOT NULL OR request_headers IS NOT NULL) GROUP BY size
