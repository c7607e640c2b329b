-- Moves the next `$1` events of a move, and returns whether there is a move. A call that finds no event ends it.
--
-- The events move in the order of their positions, so that those that have moved are the beginning of the feed. The row of the
-- move is locked: concurrent calls move nothing.
WITH move AS MATERIALIZED (
    SELECT last_number, position FROM forum_api_feed_move LIMIT 1 FOR UPDATE SKIP LOCKED
), batch AS MATERIALIZED (
    SELECT event.number, move.position + row_number() OVER (ORDER BY event.position, event.number) AS position
    FROM move CROSS JOIN LATERAL (
        SELECT number, position FROM forum_api_events
        WHERE in_feed AND position >= 0 AND number <= move.last_number
        ORDER BY position, number LIMIT $1
    ) event
), locked AS MATERIALIZED (
    SELECT number FROM forum_api_events
    WHERE number = ANY (ARRAY(SELECT number FROM batch)) AND position >= 0
    ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE forum_api_events event SET position = batch.position
    FROM batch
    WHERE event.number = ANY (ARRAY(SELECT number FROM locked)) AND event.number = batch.number
), advanced AS (
    UPDATE forum_api_feed_move SET position = position + (SELECT count(*) FROM batch)
    WHERE EXISTS (SELECT FROM batch)
), ended AS (
    DELETE FROM forum_api_feed_move
    WHERE EXISTS (SELECT FROM move) AND NOT EXISTS (SELECT FROM batch)
)
SELECT EXISTS (SELECT FROM forum_api_feed_move) AS is_moving
