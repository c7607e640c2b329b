-- How many messages of the inbox are unread, and how many use its room: all but receipts.
ALTER TABLE member ADD COLUMN unread_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE member ADD COLUMN inbox_used INTEGER NOT NULL DEFAULT 0;

CREATE TABLE member_ignore (
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    ignored_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    PRIMARY KEY (member_id, ignored_id)
) STRICT, WITHOUT ROWID;

-- What all copies of a message share.
CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    sender_id INTEGER REFERENCES member ON DELETE SET NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    body_html TEXT NOT NULL,
    receipt_requested INTEGER NOT NULL
) STRICT;

-- One party's copy. Those in inboxes are the message's recipients.
CREATE TABLE message_copy (
    id INTEGER PRIMARY KEY,
    message_id INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
    owner_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    folder TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    read_at INTEGER
) STRICT;

CREATE INDEX message_copy_by_time ON message_copy (owner_id, folder, sent_at, id);
CREATE INDEX message_copy_by_reading ON message_copy (owner_id, folder, (read_at IS NULL), sent_at, id);
CREATE INDEX message_copy_in_inboxes ON message_copy (message_id) WHERE folder = 'inbox';
