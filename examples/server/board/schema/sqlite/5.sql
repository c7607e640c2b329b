-- A long thread has so many posts that it takes too long to index them all at once.
ALTER TABLE thread ADD COLUMN is_long INTEGER AS (last_number > 1000);

-- What search finds: a row for each post that everybody who sees its forum may read, under the post's id, and one for
-- each that is hidden with a long thread alone: a search leaves such threads out by name. The title stands with the
-- thread's first post. `place` tells where a post is and by whom: its words are f, t and m with the ids of forum, thread
-- and member. A search reads the thread and the forum of a match from the columns that are not indexed. The words come
-- folded, so the tokenizer has only to part them at blanks.
CREATE VIRTUAL TABLE post_text USING fts5 (
    title, body, place, thread_id UNINDEXED, forum_id UNINDEXED,
    content = '', contentless_delete = 1, contentless_unindexed = 1, tokenize = 'ascii'
);

CREATE VIEW indexed_post AS
SELECT
    post.id,
    iif(post.number = 1, thread.title_words, NULL) AS title,
    post.body_words AS body,
    format('f%d t%d m%d', thread.forum_id, thread.id, post.author_id) AS place,
    post.thread_id,
    thread.forum_id
FROM post JOIN thread ON thread.id = post.thread_id
WHERE post.state = 'visible' AND (thread.state = 'visible' OR thread.is_long);

CREATE TRIGGER post_text_of_new AFTER INSERT ON post BEGIN
    INSERT INTO post_text (rowid, title, body, place, thread_id, forum_id)
    SELECT id, title, body, place, thread_id, forum_id FROM indexed_post WHERE id = new.id;
END;

CREATE TRIGGER post_text_of_changed AFTER UPDATE OF author_id, state, body_words ON post BEGIN
    DELETE FROM post_text WHERE rowid = new.id;
    INSERT INTO post_text (rowid, title, body, place, thread_id, forum_id)
    SELECT id, title, body, place, thread_id, forum_id FROM indexed_post WHERE id = new.id;
END;

CREATE TRIGGER post_text_of_gone AFTER DELETE ON post BEGIN
    DELETE FROM post_text WHERE rowid = old.id;
END;

-- A thread that is hidden takes its posts along, so that no search has to step over them, unless it is long.
CREATE TRIGGER post_text_of_thread AFTER UPDATE OF forum_id, title_words, state ON thread
WHEN (old.forum_id, old.title_words) IS NOT (new.forum_id, new.title_words)
    OR old.state <> new.state AND NOT new.is_long
BEGIN
    DELETE FROM post_text WHERE rowid IN (SELECT id FROM post WHERE thread_id = new.id);
    INSERT INTO post_text (rowid, title, body, place, thread_id, forum_id)
    SELECT id, title, body, place, thread_id, forum_id FROM indexed_post WHERE thread_id = new.id;
END;

INSERT INTO post_text (rowid, title, body, place, thread_id, forum_id)
SELECT id, title, body, place, thread_id, forum_id FROM indexed_post ORDER BY id;

-- Ids follow time, so the first and the last post of a span of time are the ends of a span of ids.
CREATE INDEX post_by_age ON post (created_at);

CREATE INDEX thread_long_and_hidden ON thread (id) WHERE is_long AND state <> 'visible';
