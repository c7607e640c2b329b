-- Puts a post into the search index in a tenth of the time. Functions in plpgsql keep their plans; those in SQL were planned
-- for each post.

CREATE OR REPLACE FUNCTION placed (words TEXT, sign TEXT) RETURNS TEXT
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN coalesce((
        SELECT string_agg(
            '''' || sign || left(word, 500) || '''' || CASE WHEN place < 16383 THEN ':' || place ELSE '' END, ' '
        )
        FROM unnest(string_to_array(left(words, 100000), ' ')) WITH ORDINALITY AS said (word, place)
    ), '');
END
$$;

CREATE OR REPLACE FUNCTION spans (forum BIGINT, post BIGINT) RETURNS TEXT
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    own CONSTANT TEXT := ' @' || forum || '.';
BEGIN
    RETURN '@0.7.' || (post >> 7) || own || '7.' || (post >> 7)
        || ' @0.10.' || (post >> 10) || own || '10.' || (post >> 10)
        || ' @0.13.' || (post >> 13) || own || '13.' || (post >> 13)
        || ' @0.16.' || (post >> 16) || own || '16.' || (post >> 16)
        || ' @0.19.' || (post >> 19) || own || '19.' || (post >> 19)
        || ' @0.22.' || (post >> 22) || own || '22.' || (post >> 22)
        || ' @0.25.' || (post >> 25) || own || '25.' || (post >> 25)
        || ' @0.28.' || (post >> 28) || own || '28.' || (post >> 28);
END
$$;

-- A new post is not in the index yet.
CREATE OR REPLACE FUNCTION index_post () RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'UPDATE' THEN
        DELETE FROM post_text WHERE post_id = new.id;
    END IF;
    INSERT INTO post_text SELECT * FROM indexed_post WHERE post_id = new.id;
    RETURN NULL;
END
$$;
