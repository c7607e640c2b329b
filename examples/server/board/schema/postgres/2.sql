-- A long thread has so many posts that it takes too long to index them all at once.
ALTER TABLE thread ADD COLUMN is_long BOOLEAN NOT NULL GENERATED ALWAYS AS (last_number > 1000) STORED;

CREATE INDEX thread_long_and_hidden ON thread (id) WHERE is_long AND state <> 'visible';

-- What search finds: a row for each post that everybody who sees its forum may read, and one for each that is hidden
-- with a long thread alone: a search leaves such threads out by name. A title's words begin with =, and stand with the
-- thread's first post; one with # and the author's id tells by whom a post is.
CREATE TABLE post_text (
    post_id BIGINT PRIMARY KEY REFERENCES post ON DELETE CASCADE,
    thread_id BIGINT NOT NULL,
    forum_id BIGINT NOT NULL,
    words TSVECTOR NOT NULL
);

-- Whether a word is rare, so that the index finds its posts, or common, so that the newest of all posts have it: that
-- is known of so many words.
ALTER TABLE post_text ALTER words SET STATISTICS 1000;

-- Each search reads all that waits to be put into the index: kilobytes of it, no more.
CREATE INDEX post_text_by_word ON post_text USING gin (words) WITH (gin_pending_list_limit = 256);
CREATE INDEX post_text_by_thread ON post_text (thread_id, post_id);
CREATE INDEX post_text_by_forum ON post_text (forum_id, post_id);

-- Folded words as Postgres reads them, with this sign and their places. It holds no word of more than 2,046 bytes, and
-- no text of a megabyte: so much of them is searched. It knows no place from 16,383 on, and 255 of one word: beyond
-- these words are found, phrases are not.
CREATE FUNCTION placed (words TEXT, sign TEXT) RETURNS TEXT
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(string_agg(
        '''' || sign || left(word, 500) || '''' || CASE WHEN place < 16383 THEN ':' || place ELSE '' END, ' '
    ), '')
    FROM unnest(string_to_array(left(words, 100000), ' ')) WITH ORDINALITY AS said (word, place)
$$;

CREATE FUNCTION ids (list JSONB) RETURNS BIGINT []
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(id::BIGINT), '{}') FROM jsonb_array_elements_text(list) AS id
$$;

CREATE VIEW indexed_post AS
SELECT
    post.id AS post_id,
    post.thread_id,
    thread.forum_id,
    concat_ws(
        ' ',
        CASE WHEN post.number = 1 THEN placed(thread.title_words, '=') END,
        placed(post.body_words, ''),
        '#' || post.author_id
    )::TSVECTOR AS words
FROM post JOIN thread ON thread.id = post.thread_id
WHERE post.state = 'visible' AND (thread.state = 'visible' OR thread.is_long);

CREATE FUNCTION index_post () RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM post_text WHERE post_id = new.id;
    INSERT INTO post_text SELECT * FROM indexed_post WHERE post_id = new.id;
    RETURN NULL;
END
$$;

-- Who adds many posts puts them into the index together.
CREATE TRIGGER post_text_of_post AFTER INSERT OR UPDATE OF author_id, state, body_words ON post
FOR EACH ROW WHEN (current_setting('board.together', TRUE) IS DISTINCT FROM 'on')
EXECUTE FUNCTION index_post();

CREATE FUNCTION index_thread () RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM post_text WHERE thread_id = new.id;
    INSERT INTO post_text SELECT * FROM indexed_post WHERE thread_id = new.id;
    RETURN NULL;
END
$$;

-- A thread that is hidden takes its posts along, so that no search has to step over them, unless it is long.
CREATE TRIGGER post_text_of_thread AFTER UPDATE OF forum_id, title_words, state ON thread
FOR EACH ROW WHEN (
    (old.forum_id, old.title_words) IS DISTINCT FROM (new.forum_id, new.title_words)
    OR old.state <> new.state AND NOT new.is_long
)
EXECUTE FUNCTION index_thread();

INSERT INTO post_text SELECT * FROM indexed_post;

-- What finds posts is planned for each search anew: how depends on how common its words are, and how large its forums.
-- Pages cost little beside rows, for what is searched is in memory.
CREATE FUNCTION newest_matches (query TEXT, place JSONB, first BIGINT, last BIGINT, rows BIGINT)
RETURNS TABLE (post_id BIGINT, thread_id BIGINT) LANGUAGE plpgsql STABLE
SET seq_page_cost = 0.1 SET random_page_cost = 0.1 SET jit = off AS $$
BEGIN
    RETURN QUERY EXECUTE
        'SELECT post_id, thread_id FROM post_text
        WHERE words @@ $1 AND forum_id = ANY ($2) AND thread_id <> ALL ($3) AND post_id BETWEEN $4 AND $5
        ORDER BY post_id DESC LIMIT $6'
    USING query::TSQUERY, ids(place -> 'forums'), ids(place -> 'leftOut'), first, last, rows;
END
$$;

CREATE FUNCTION oldest_matches (query TEXT, place JSONB, first BIGINT, last BIGINT, rows BIGINT)
RETURNS TABLE (post_id BIGINT, thread_id BIGINT) LANGUAGE plpgsql STABLE
SET seq_page_cost = 0.1 SET random_page_cost = 0.1 SET jit = off AS $$
BEGIN
    RETURN QUERY EXECUTE
        'SELECT post_id, thread_id FROM post_text
        WHERE words @@ $1 AND forum_id = ANY ($2) AND thread_id <> ALL ($3) AND post_id BETWEEN $4 AND $5
        ORDER BY post_id LIMIT $6'
    USING query::TSQUERY, ids(place -> 'forums'), ids(place -> 'leftOut'), first, last, rows;
END
$$;

-- Those of the threads that have a match among these posts.
CREATE FUNCTION threads_with_match (threads JSONB, query TEXT, first BIGINT, last BIGINT)
RETURNS TABLE (thread_id BIGINT) LANGUAGE plpgsql STABLE
SET seq_page_cost = 0.1 SET random_page_cost = 0.1 SET jit = off AS $$
DECLARE
    has_match BOOLEAN;
BEGIN
    FOREACH thread_id IN ARRAY ids(threads) LOOP
        EXECUTE
            'SELECT EXISTS (
                SELECT FROM post_text WHERE thread_id = $1 AND words @@ $2 AND post_id BETWEEN $3 AND $4
            )'
        INTO has_match
        USING thread_id, query::TSQUERY, first, last;
        IF has_match THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
