-- Returns a row for each attempt, or one without an attempt.
SELECT delivery.*, attempt, at, status, error, sent, duration_ms, answer, request_headers, response_headers
FROM forum_api_deliveries delivery
LEFT JOIN forum_api_attempts attempted ON attempted.delivery = delivery.id
WHERE delivery.id = $1 AND EXISTS (SELECT FROM forum_api_endpoints endpoint WHERE endpoint.id = delivery.endpoint)
ORDER BY attempted.number
