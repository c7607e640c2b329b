-- Returns the number of the attempt in the log of its delivery.
INSERT INTO forum_api_attempts
    (delivery, number, attempt, at, status, error, sent, duration_ms, answer, request_headers, response_headers)
SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
FROM forum_api_attempts WHERE delivery = ?1
RETURNING number
