-- Beside what a post says, its words tell where it is: in a forum, and among the posts of a span. The spans are of two to
-- the power of 7, 10, 13 and so on posts: each is eight times as long as the one before. Forum 0 is all of them.
CREATE FUNCTION span (forum BIGINT, post BIGINT, power INTEGER) RETURNS TEXT
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT '@' || forum || '.' || power || '.' || (post >> power)
$$;

CREATE FUNCTION spans (forum BIGINT, post BIGINT) RETURNS TEXT
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(span(0, post, power) || ' ' || span(forum, post, power), ' ')
    FROM generate_series(7, 28, 3) AS power
$$;

CREATE OR REPLACE VIEW indexed_post AS
SELECT
    post.id AS post_id,
    post.thread_id,
    thread.forum_id,
    concat_ws(
        ' ',
        CASE WHEN post.number = 1 THEN placed(thread.title_words, '=') END,
        placed(post.body_words, ''),
        '#' || post.author_id,
        spans(thread.forum_id, post.id)
    )::TSVECTOR AS words
FROM post JOIN thread ON thread.id = post.thread_id
WHERE post.state = 'visible' AND (thread.state = 'visible' OR thread.is_long);

DROP INDEX post_text_by_word, post_text_by_forum;
TRUNCATE post_text;
INSERT INTO post_text SELECT * FROM indexed_post ORDER BY post_id;
CREATE INDEX post_text_by_word ON post_text USING gin (words) WITH (gin_pending_list_limit = 256);

-- The forums whose spans a search in these forums asks for: where they are few and most posts are in others, those with
-- posts of them. Elsewhere it is cheaper to look where a post is that was found.
CREATE FUNCTION asked_for (forums BIGINT []) RETURNS BIGINT []
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN count(*) FILTER (WHERE named) <= 8 AND 2 * coalesce(sum(post_count) FILTER (WHERE named), 0) < sum(post_count)
        THEN array_agg(id) FILTER (WHERE named)
        ELSE ARRAY[0]
    END
    FROM (SELECT id, post_count, id = ANY (forums) AS named FROM forum WHERE post_count > 0) AS forum
$$;

-- The first matches on a way, in the place of `newest_matches` and `oldest_matches`, which servers of the version before
-- ask for as long as they run: back from the newest where it is -1, forth from the oldest where it is 1.
--
-- It goes from span to span. The index is asked for the words within a span, and the next one is longer while few are
-- found: so little more is read than is given, however common words are, and wherever. All searches have one plan, for
-- they are all answered by the index of words: the sums keep the others out.
CREATE FUNCTION matches (query TEXT, place JSONB, first BIGINT, last BIGINT, rows BIGINT, way INTEGER)
RETURNS TABLE (post_id BIGINT, thread_id BIGINT) LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET random_page_cost = 0.1 SET jit = off AS $$
DECLARE
    forums CONSTANT BIGINT [] := ids(place -> 'forums');
    left_out CONSTANT BIGINT [] := ids(place -> 'leftOut');
    asked_for CONSTANT BIGINT [] := asked_for(forums);
    oldest BIGINT;
    newest BIGINT;
    here BIGINT;
    power INTEGER := 7;
    spans TEXT;
    found BIGINT;
BEGIN
    SELECT min(post.post_id), max(post.post_id) INTO oldest, newest FROM post_text AS post;
    here := CASE way WHEN 1 THEN greatest(first, oldest) ELSE least(last, newest) END;
    WHILE rows > 0 AND here BETWEEN oldest AND newest AND here BETWEEN first AND last LOOP
        spans := (SELECT string_agg(span(forum, here, power), ' | ') FROM unnest(asked_for) AS forum);
        RETURN QUERY
        SELECT post.post_id, post.thread_id FROM post_text AS post
        WHERE post.words @@ (query::TSQUERY && spans::TSQUERY)
            AND post.forum_id = ANY (forums) AND post.thread_id <> ALL (left_out)
            AND post.post_id + 0 BETWEEN first AND last AND way * (post.post_id - here) >= 0
        ORDER BY way * post.post_id LIMIT rows;
        GET DIAGNOSTICS found = ROW_COUNT;
        rows := rows - found;
        here := CASE way WHEN 1 THEN ((here >> power) + 1) << power ELSE ((here >> power) << power) - 1 END;
        IF 8 * found < rows THEN
            power := least(power + 3, 28);
        END IF;
    END LOOP;
END
$$;
