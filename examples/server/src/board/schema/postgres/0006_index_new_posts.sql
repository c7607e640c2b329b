-- Indexes a post from the values of its row. A statement that reads the post again is planned by the first writes of a
-- connection. On a new board it then read many posts for each new one, until Postgres had statistics of the table.

CREATE FUNCTION index_words (
    number BIGINT, title_words TEXT, body_words TEXT, author_id BIGINT, forum_id BIGINT, post_id BIGINT
) RETURNS TSVECTOR
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN concat_ws(
        ' ',
        CASE WHEN number = 1 THEN placed(title_words, '=') END,
        placed(body_words, ''),
        '#' || author_id,
        spans(forum_id, post_id)
    )::TSVECTOR;
END
$$;

CREATE OR REPLACE VIEW indexed_post AS
SELECT
    post.id AS post_id,
    post.thread_id,
    thread.forum_id,
    index_words(
        post.number, thread.title_words, post.body_words, post.author_id, thread.forum_id, post.id
    ) AS words
FROM post JOIN thread ON thread.id = post.thread_id
WHERE post.state = 'visible' AND (thread.state = 'visible' OR thread.is_long);

CREATE OR REPLACE FUNCTION index_post () RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'UPDATE' THEN
        DELETE FROM post_text WHERE post_id = new.id;
    END IF;
    INSERT INTO post_text
    SELECT
        new.id,
        new.thread_id,
        thread.forum_id,
        index_words(new.number, thread.title_words, new.body_words, new.author_id, thread.forum_id, new.id)
    FROM thread
    WHERE thread.id = new.thread_id
        AND new.state = 'visible' AND (thread.state = 'visible' OR thread.is_long);
    RETURN NULL;
END
$$;
