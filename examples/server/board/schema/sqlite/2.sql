-- The state of a deleted post before that is the one that it is restored to.
ALTER TABLE post ADD COLUMN state_before TEXT;

-- How many posts of a thread each author wrote is counted here when it is deleted or restored.
CREATE INDEX post_by_writer ON post (thread_id, author_id) WHERE state = 'visible';

-- Why it was last edited.
ALTER TABLE post ADD COLUMN edit_reason TEXT;

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

CREATE INDEX subscription_by_time ON subscription (member_id, created_at DESC, id DESC);
CREATE INDEX subscription_by_target ON subscription (member_id, target, created_at DESC, id DESC);
