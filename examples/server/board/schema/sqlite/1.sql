-- Times are milliseconds since 1970, groups are names with commas between them, counts are of visible content alone.
-- Columns of words have those of a text, folded as a search folds them, with blanks between.

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL,
    title TEXT,
    avatar_url TEXT,
    password_hash TEXT,
    groups TEXT NOT NULL,
    banned INTEGER NOT NULL DEFAULT FALSE,
    joined_at INTEGER NOT NULL,
    last_seen_at INTEGER,
    post_count INTEGER NOT NULL DEFAULT 0,
    reputation INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX member_by_name ON member (lower(username));

-- A list of groups that is null is the parent's.
CREATE TABLE forum (
    id INTEGER PRIMARY KEY,
    parent_id INTEGER REFERENCES forum,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    read_groups TEXT,
    start_groups TEXT,
    reply_groups TEXT,
    thread_count INTEGER NOT NULL DEFAULT 0,
    post_count INTEGER NOT NULL DEFAULT 0,
    last_activity_at INTEGER
) STRICT;

CREATE TABLE forum_moderator (
    forum_id INTEGER NOT NULL REFERENCES forum ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    PRIMARY KEY (forum_id, member_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread (
    id INTEGER PRIMARY KEY,
    forum_id INTEGER NOT NULL REFERENCES forum,
    title TEXT NOT NULL,
    author_id INTEGER REFERENCES member ON DELETE SET NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    first_post_id INTEGER,
    last_post_id INTEGER,
    last_number INTEGER NOT NULL DEFAULT 0,
    reply_count INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT FALSE,
    locked INTEGER NOT NULL DEFAULT FALSE,
    version INTEGER NOT NULL DEFAULT 1,
    title_words TEXT NOT NULL
) STRICT;

CREATE INDEX thread_by_activity ON thread (forum_id, last_activity_at DESC, id DESC);

CREATE TABLE post (
    id INTEGER PRIMARY KEY,
    thread_id INTEGER NOT NULL REFERENCES thread ON DELETE CASCADE,
    number INTEGER NOT NULL,
    author_id INTEGER REFERENCES member ON DELETE SET NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    edited_at INTEGER,
    edited_by INTEGER REFERENCES member ON DELETE SET NULL,
    body TEXT NOT NULL,
    body_html TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1,
    body_words TEXT NOT NULL
) STRICT;

CREATE INDEX post_by_time ON post (thread_id, created_at, id);
CREATE INDEX post_by_author ON post (author_id, created_at);
