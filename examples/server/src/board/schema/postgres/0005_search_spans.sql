-- Bounds the matches that a search reads at a time. Before, a search for a word that is absent from the newest posts and
-- frequent in older posts read all matches of a long span.

-- The first matches in a direction: from the newest backwards if `way` is -1, from the oldest forwards if it is 1.
--
-- Searches one span after the other in the index. Takes longer spans while few matches are found, and shorter spans if a long
-- one has many more matches than the remaining rows. So it reads few posts that it does not return, for common and rare words.
-- One generic plan serves all searches, on the index of words: the arithmetic in the conditions keeps the planner from other
-- indexes.
CREATE OR REPLACE FUNCTION matches (query TEXT, place JSONB, first BIGINT, last BIGINT, rows BIGINT, way INTEGER)
RETURNS TABLE (post_id BIGINT, thread_id BIGINT) LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET random_page_cost = 0.1 SET enable_seqscan = off SET jit = off AS $$
DECLARE
    forums CONSTANT BIGINT [] := ids(place -> 'forums');
    left_out CONSTANT BIGINT [] := ids(place -> 'leftOut');
    asked_for BIGINT [];
    oldest BIGINT;
    newest BIGINT;
    here BIGINT;
    power INTEGER := 7;
    span_query TSQUERY;
    max_matches BIGINT;
    found BIGINT;
    steps INTEGER := 0;
    -- The last span that had too many matches.
    long_power INTEGER := 31;
    long_span BIGINT;
BEGIN
    SELECT min(post.post_id), max(post.post_id) INTO oldest, newest FROM post_text AS post;
    here := CASE way WHEN 1 THEN greatest(first, oldest) ELSE least(last, newest) END;
    IF here BETWEEN oldest AND newest THEN
        asked_for := asked_for(forums, query::TSQUERY, here - way * 1024, rows);
    END IF;
    WHILE rows > 0 AND here BETWEEN oldest AND newest AND here BETWEEN first AND last LOOP
        span_query := query::TSQUERY
            && (SELECT string_agg(span(forum, here, power), ' | ') FROM unnest(asked_for) AS forum)::TSQUERY;
        IF power > 10 THEN
            max_matches := 8 * rows + 100;
            SELECT count(*) INTO found FROM (
                SELECT FROM post_text AS post
                WHERE post.words @@ span_query AND way * (post.post_id - here) >= 0 LIMIT max_matches
            ) AS part;
            IF found = max_matches THEN
                long_power := power;
                long_span := here >> power;
                power := power - 3;
                CONTINUE;
            END IF;
        END IF;
        IF power <= 10 OR found > 0 THEN
            RETURN QUERY
            SELECT post.post_id, post.thread_id FROM post_text AS post
            WHERE post.words @@ span_query
                AND post.forum_id = ANY (forums) AND post.thread_id <> ALL (left_out)
                AND post.post_id + 0 BETWEEN first AND last AND way * (post.post_id - here) >= 0
            ORDER BY way * post.post_id LIMIT rows;
            GET DIAGNOSTICS found = ROW_COUNT;
            rows := rows - found;
        END IF;
        here := CASE way WHEN 1 THEN ((here >> power) + 1) << power ELSE ((here >> power) << power) - 1 END;
        IF 8 * found < rows AND (power + 3 < long_power OR here >> long_power <> long_span) THEN
            -- The index reads all matches of a span: longer spans have too many, unless there are very many posts.
            steps := steps + 1;
            power := least(power + 3, CASE WHEN steps < 50 THEN 16 ELSE 28 END);
        END IF;
    END LOOP;
END
$$;
