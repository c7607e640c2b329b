-- A thread's poll, written by the thread's author.
CREATE TABLE poll (
    id INTEGER PRIMARY KEY,
    thread_id INTEGER NOT NULL UNIQUE REFERENCES thread ON DELETE CASCADE,
    question TEXT NOT NULL,
    max_choices INTEGER NOT NULL,
    can_change_vote INTEGER NOT NULL,
    closes_at INTEGER,
    voters INTEGER NOT NULL DEFAULT 0,
    version INTEGER NOT NULL DEFAULT 1
) STRICT;

-- The id of a removed option is not given again, lest a vote meant for it goes to another.
CREATE TABLE poll_option (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    poll_id INTEGER NOT NULL REFERENCES poll ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    votes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX poll_option_by_position ON poll_option (poll_id, position);

-- That somebody voted; it still counts when the account is gone.
CREATE TABLE ballot (
    id INTEGER PRIMARY KEY,
    poll_id INTEGER NOT NULL REFERENCES poll ON DELETE CASCADE,
    member_id INTEGER REFERENCES member ON DELETE SET NULL,
    UNIQUE (poll_id, member_id)
) STRICT;

CREATE INDEX ballot_by_member ON ballot (member_id);

-- What a ballot names, one option or more.
CREATE TABLE vote (
    ballot_id INTEGER NOT NULL REFERENCES ballot ON DELETE CASCADE,
    option_id INTEGER NOT NULL REFERENCES poll_option ON DELETE CASCADE,
    PRIMARY KEY (ballot_id, option_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX vote_by_option ON vote (option_id);

CREATE TABLE rating (
    id INTEGER PRIMARY KEY,
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
