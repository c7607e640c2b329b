-- Milliseconds since 1970.
CREATE OR REPLACE FUNCTION club_now() RETURNS bigint LANGUAGE sql AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Ranks: 0 is a guest, 1 a member, 2 staff, 3 an administrator.
CREATE TABLE IF NOT EXISTS member (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    rank smallint NOT NULL DEFAULT 1,
    banned boolean NOT NULL DEFAULT FALSE,
    joined_at bigint NOT NULL DEFAULT club_now(),
    wrote_at bigint
);

CREATE TABLE IF NOT EXISTS session (
    key text PRIMARY KEY,
    member bigint NOT NULL REFERENCES member
);

CREATE TABLE IF NOT EXISTS section (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title text NOT NULL,
    rank smallint NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS topic (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    section bigint NOT NULL REFERENCES section,
    subject text NOT NULL,
    locked boolean NOT NULL DEFAULT FALSE,
    entries bigint NOT NULL DEFAULT 0,
    active_at bigint NOT NULL DEFAULT club_now()
);

CREATE INDEX IF NOT EXISTS topic_by_activity ON topic (section, active_at, id);

CREATE TABLE IF NOT EXISTS entry (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic bigint NOT NULL REFERENCES topic,
    number bigint NOT NULL,
    writer bigint NOT NULL REFERENCES member,
    body text NOT NULL,
    written_at bigint NOT NULL DEFAULT club_now(),
    UNIQUE (topic, number)
);

CREATE INDEX IF NOT EXISTS entry_by_writer ON entry (writer);

CREATE TABLE IF NOT EXISTS vote (
    entry bigint REFERENCES entry,
    member bigint REFERENCES member,
    PRIMARY KEY (entry, member)
);

CREATE OR REPLACE VIEW entry_view AS
SELECT entry.*, member.name AS writer_name
FROM entry JOIN member ON member.id = entry.writer;

CREATE OR REPLACE VIEW topic_view AS
SELECT topic.*, section.title AS section_title, section.rank,
    first.id AS first_id, first.writer, first.writer_name, first.written_at AS started_at,
    last.id AS last_id, last.writer AS last_writer, last.writer_name AS last_writer_name
FROM topic
JOIN section ON section.id = topic.section
JOIN entry_view first ON first.topic = topic.id AND first.number = 1
JOIN entry_view last ON last.topic = topic.id AND last.number = topic.entries;
