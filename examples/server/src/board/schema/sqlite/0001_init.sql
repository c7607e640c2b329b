-- Times are milliseconds since 1970, groups are names with commas between them, counts are of visible content only.
-- Columns of words contain the words of a text, folded as a search folds them, with blanks between. Between two letters of
-- scripts without spaces, which are words, is the pair of both. Ids with AUTOINCREMENT are not assigned again after the
-- row was removed, or after a restore.

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    username TEXT NOT NULL,
    title TEXT,
    avatar_url TEXT,
    password_hash TEXT,
    groups TEXT NOT NULL,
    banned INTEGER NOT NULL DEFAULT FALSE,
    joined_at INTEGER NOT NULL,
    last_seen_at INTEGER,
    post_count INTEGER NOT NULL DEFAULT 0,
    reputation INTEGER NOT NULL DEFAULT 0,
    -- Number of unread messages in the inbox, and of those that count against the quota: all but receipts.
    unread_count INTEGER NOT NULL DEFAULT 0,
    inbox_used INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX member_by_name ON member (lower(username));

-- A list of groups that is null is the parent's.
CREATE TABLE forum (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    parent_id INTEGER REFERENCES forum,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    read_groups TEXT,
    start_groups TEXT,
    reply_groups TEXT
) STRICT;

-- Counts of a forum: each is the sum of the forum's rows. On SQLite, a forum has one row, unless its board was copied from
-- Postgres.
CREATE TABLE forum_count (
    id INTEGER PRIMARY KEY,
    forum_id INTEGER NOT NULL REFERENCES forum ON DELETE CASCADE,
    thread_count INTEGER NOT NULL,
    post_count INTEGER NOT NULL,
    -- Time of the newest counted thread or reply, also after its deletion; 0 if there is none. A new thread or reply has
    -- at least the newest time of its forum.
    newest_at INTEGER NOT NULL
) STRICT;

CREATE INDEX forum_count_by_forum ON forum_count (forum_id, id);

CREATE TABLE forum_moderator (
    forum_id INTEGER NOT NULL REFERENCES forum ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    PRIMARY KEY (forum_id, member_id)
) STRICT, WITHOUT ROWID;

-- One row with a random number, which each change of a setting, or of the groups or the moderators of a forum, replaces.
-- Processes keep the settings, and the groups and moderators of all forums, as long as the number stays the same.
CREATE TABLE access_version (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;

INSERT INTO access_version (id, version) VALUES (1, random());

CREATE TRIGGER access_with_new_setting AFTER INSERT ON setting BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_with_changed_setting AFTER UPDATE ON setting BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_with_gone_setting AFTER DELETE ON setting BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_to_new_forum AFTER INSERT ON forum BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_to_changed_forum
AFTER UPDATE OF parent_id, read_groups, start_groups, reply_groups ON forum BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_to_gone_forum AFTER DELETE ON forum BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_of_new_moderator AFTER INSERT ON forum_moderator BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_of_changed_moderator AFTER UPDATE ON forum_moderator BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TRIGGER access_of_gone_moderator AFTER DELETE ON forum_moderator BEGIN
    UPDATE access_version SET version = random();
END;

CREATE TABLE thread (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    forum_id INTEGER NOT NULL REFERENCES forum,
    title TEXT NOT NULL,
    author_id INTEGER REFERENCES member ON DELETE SET NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    first_post_id INTEGER,
    last_post_id INTEGER,
    -- Author of the last post; the account can be removed.
    last_author_id INTEGER,
    last_number INTEGER NOT NULL DEFAULT 0,
    -- Time of the newest post in any state, also after its removal.
    newest_at INTEGER NOT NULL DEFAULT 0,
    reply_count INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT FALSE,
    locked INTEGER NOT NULL DEFAULT FALSE,
    -- The thread was changed while it awaited approval: an event follows with the approval.
    update_waits INTEGER NOT NULL DEFAULT FALSE,
    version INTEGER NOT NULL DEFAULT 1,
    title_words TEXT NOT NULL
) STRICT;

-- The state precedes the order, so that a list does not read the threads that its caller does not see.
CREATE INDEX thread_by_activity ON thread (forum_id, state, last_activity_at DESC, id DESC);
CREATE INDEX thread_by_forum ON thread (forum_id, id);
CREATE INDEX thread_by_author ON thread (author_id);
CREATE INDEX thread_waiting ON thread (forum_id, author_id, last_activity_at DESC, id DESC)
WHERE state = 'awaiting_approval';

CREATE TABLE post (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id INTEGER NOT NULL REFERENCES thread ON DELETE CASCADE,
    number INTEGER NOT NULL,
    author_id INTEGER REFERENCES member ON DELETE SET NULL,
    state TEXT NOT NULL,
    -- Orders the posts of a thread. Later than the time of the previous post, even if a clock was ahead for that post.
    created_at INTEGER NOT NULL,
    -- Time of the clock when the post was written. Limits of posts per hour use it.
    written_at INTEGER NOT NULL,
    edited_at INTEGER,
    edited_by INTEGER REFERENCES member ON DELETE SET NULL,
    version INTEGER NOT NULL DEFAULT 1,
    -- State of a deleted post before its deletion, to which it is restored.
    state_before TEXT,
    -- Time of the deletion of a deleted post.
    deleted_at INTEGER,
    -- Reason of the last edit.
    edit_reason TEXT,
    -- Whether post.created was sent: the post was visible in a visible thread at some time.
    published INTEGER NOT NULL DEFAULT TRUE,
    -- Whether the last event of the post, or for a first post of its thread, was the deletion.
    withdrawn INTEGER NOT NULL DEFAULT FALSE,
    -- Whether the text or the title was edited without an event: the edit awaits approval, or the thread is hidden.
    edit_waits INTEGER NOT NULL DEFAULT FALSE,
    -- Whether the reply was changed while its thread was hidden: its events follow when the thread is visible.
    update_waits INTEGER NOT NULL DEFAULT FALSE,
    -- Whether the reply was removed with its author. The row has no texts, and stays for the event of the deletion.
    erased INTEGER NOT NULL DEFAULT FALSE,
    -- Post of the same thread to which this post replies; its row can be removed.
    in_reply_to INTEGER,
    -- The texts follow the short columns, so that SQLite finds those on the first page of a long row. The words precede the
    -- other texts: a search reads the words of each candidate, and charges only their length.
    body_words TEXT NOT NULL,
    body TEXT NOT NULL,
    body_html TEXT NOT NULL
) STRICT;

-- As for threads, the state precedes the order.
CREATE INDEX post_by_order ON post (thread_id, state, created_at, id);
CREATE INDEX post_waiting ON post (thread_id, author_id, created_at, id) WHERE state = 'awaiting_approval';
CREATE INDEX post_hidden ON post (state, id) WHERE state <> 'visible' AND NOT erased;
CREATE INDEX post_by_author ON post (author_id, written_at);
CREATE INDEX post_by_editor ON post (edited_by) WHERE edited_by IS NOT NULL;
CREATE INDEX post_update_waits ON post (thread_id, id) WHERE update_waits;
-- Ids follow time, so the first and the last post of a span of time are the ends of a span of ids.
CREATE INDEX post_by_age ON post (created_at);

-- Number of visible posts of each author in a thread, and the part of it that `member.post_count` includes: all while the
-- thread is visible in a forum that members can read, and otherwise none.
CREATE TABLE thread_author (
    thread_id INTEGER NOT NULL REFERENCES thread ON DELETE CASCADE,
    author_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    post_count INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    PRIMARY KEY (thread_id, author_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX thread_author_by_author ON thread_author (author_id);

-- Visible threads with further replies that were changed while the thread was hidden, and whose events are sent in batches.
CREATE TABLE thread_publication (
    thread_id INTEGER PRIMARY KEY REFERENCES thread ON DELETE CASCADE,
    -- Number of batches so far. The next batch is that of the thread with the fewest.
    batches INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Threads that were hidden or shown, and whose authors are recounted in batches. Meanwhile profiles show the difference.
CREATE TABLE thread_recount (
    thread_id INTEGER PRIMARY KEY REFERENCES thread ON DELETE CASCADE,
    -- Whether `member.post_count` is to include the posts of the thread.
    counts INTEGER NOT NULL,
    -- The authors with ids up to this one are recounted.
    last_author_id INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Edits of posts and polls by a member in the hour before the member's latest edit.
CREATE TABLE member_edit (
    id INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    edited_at INTEGER NOT NULL
) STRICT;

CREATE INDEX member_edit_by_time ON member_edit (member_id, edited_at);

-- The target is a 'thread' of the forum, or the 'forum' itself.
CREATE TABLE subscription (
    id INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    forum_id INTEGER NOT NULL REFERENCES forum ON DELETE CASCADE,
    target TEXT NOT NULL,
    target_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (member_id, target, target_id)
) STRICT;

CREATE INDEX subscription_by_target ON subscription (member_id, target, created_at DESC, id DESC);
CREATE INDEX subscription_by_thread ON subscription (target_id) WHERE target = 'thread';

-- A thread's poll, written by the thread's author.
CREATE TABLE poll (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id INTEGER NOT NULL UNIQUE REFERENCES thread ON DELETE CASCADE,
    question TEXT NOT NULL,
    max_choices INTEGER NOT NULL,
    can_change_vote INTEGER NOT NULL,
    closes_at INTEGER,
    voters INTEGER NOT NULL DEFAULT 0,
    -- Whether the poll was edited, and whether a vote was stored, while the thread was hidden: the events follow when it is
    -- visible.
    update_waits INTEGER NOT NULL DEFAULT FALSE,
    votes_wait INTEGER NOT NULL DEFAULT FALSE,
    version INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE TABLE poll_option (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    poll_id INTEGER NOT NULL REFERENCES poll ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    votes INTEGER NOT NULL DEFAULT 0,
    -- The option is not shown, and its votes are removed in batches.
    removed INTEGER NOT NULL DEFAULT FALSE
) STRICT;

CREATE INDEX poll_option_by_position ON poll_option (poll_id, position);
CREATE INDEX poll_option_removed ON poll_option (id) WHERE removed;

-- A vote of a member. It still counts when the account is gone.
CREATE TABLE ballot (
    id INTEGER PRIMARY KEY,
    poll_id INTEGER NOT NULL REFERENCES poll ON DELETE CASCADE,
    member_id INTEGER REFERENCES member ON DELETE SET NULL,
    -- Number of options of the vote.
    choices INTEGER NOT NULL DEFAULT 0,
    UNIQUE (poll_id, member_id)
) STRICT;

CREATE INDEX ballot_by_member ON ballot (member_id);
CREATE INDEX ballot_by_choices ON ballot (poll_id, choices);

-- Options of a vote, at least one.
CREATE TABLE vote (
    ballot_id INTEGER NOT NULL REFERENCES ballot ON DELETE CASCADE,
    option_id INTEGER NOT NULL REFERENCES poll_option ON DELETE CASCADE,
    PRIMARY KEY (ballot_id, option_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX vote_by_option ON vote (option_id);

CREATE TABLE rating (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    rater_id INTEGER REFERENCES member ON DELETE SET NULL,
    post_id INTEGER REFERENCES post ON DELETE SET NULL,
    points INTEGER NOT NULL,
    comment TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX rating_by_time ON rating (rater_id, created_at);
CREATE INDEX rating_by_subject ON rating (rater_id, member_id, post_id, created_at);
CREATE INDEX rating_by_member ON rating (member_id);
CREATE INDEX rating_by_post ON rating (post_id);

CREATE TABLE member_ignore (
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    ignored_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    PRIMARY KEY (member_id, ignored_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX member_ignore_by_ignored ON member_ignore (ignored_id);

-- Content that all copies of a message share.
CREATE TABLE message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sender_id INTEGER REFERENCES member ON DELETE SET NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    body_html TEXT NOT NULL,
    receipt_requested INTEGER NOT NULL,
    is_receipt INTEGER NOT NULL DEFAULT FALSE
) STRICT;

CREATE INDEX message_by_sender ON message (sender_id);

-- Copy of a message for one party. Copies in inboxes belong to the recipients.
CREATE TABLE message_copy (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
    owner_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    folder TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    read_at INTEGER
) STRICT;

CREATE INDEX message_copy_by_time ON message_copy (owner_id, folder, sent_at, id);
CREATE INDEX message_copy_by_reading ON message_copy (owner_id, folder, (read_at IS NULL), sent_at, id);
CREATE INDEX message_copy_by_message ON message_copy (message_id);

-- Search index: a row, with the post's id, for each visible post, also of a hidden thread: a search reads the state of the
-- thread of each match, so that hiding a thread changes no row of its replies. The title is in the row of the thread's
-- first post. A new title is indexed with the post, which the same command writes after the title. The words of `place` are
-- f, t and m with the ids of the post's forum, thread and author. The words are folded already, so the tokenizer only
-- splits them at blanks.
CREATE VIRTUAL TABLE post_text USING fts5 (
    title, body, place, content = '', contentless_delete = 1, detail = column, tokenize = 'ascii'
);

CREATE VIEW indexed_post AS
SELECT
    post.id,
    iif(post.number = 1, thread.title_words, NULL) AS title,
    post.body_words AS body,
    format('f%d t%d m%d', thread.forum_id, thread.id, post.author_id) AS place,
    post.thread_id
FROM post JOIN thread ON thread.id = post.thread_id
WHERE post.state = 'visible';

CREATE TRIGGER post_text_of_new AFTER INSERT ON post BEGIN
    INSERT INTO post_text (rowid, title, body, place)
    SELECT id, title, body, place FROM indexed_post WHERE id = new.id;
END;

CREATE TRIGGER post_text_of_changed AFTER UPDATE OF author_id, state, body_words ON post BEGIN
    DELETE FROM post_text WHERE rowid = new.id;
    INSERT INTO post_text (rowid, title, body, place)
    SELECT id, title, body, place FROM indexed_post WHERE id = new.id;
END;

CREATE TRIGGER post_text_of_gone AFTER DELETE ON post BEGIN
    DELETE FROM post_text WHERE rowid = old.id;
END;

-- No command moves a thread.
CREATE TRIGGER post_text_of_moved_thread AFTER UPDATE OF forum_id ON thread WHEN old.forum_id <> new.forum_id BEGIN
    DELETE FROM post_text WHERE rowid IN (SELECT id FROM post WHERE thread_id = new.id);
    INSERT INTO post_text (rowid, title, body, place)
    SELECT id, title, body, place FROM indexed_post WHERE thread_id = new.id;
END;

-- Sessions of signed-in members. `hash` is the hash of the session id, which only the browser holds. `password` is the
-- hash of the member's password hash: a session ends when the password changes.
CREATE TABLE session (
    hash BLOB PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    password BLOB NOT NULL,
    began_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Key that signs the cookies of browsers that have signed in.
CREATE TABLE sign_in_key (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    key BLOB NOT NULL
) STRICT;

CREATE INDEX session_by_member ON session (member_id);
CREATE INDEX session_by_use ON session (used_at);
