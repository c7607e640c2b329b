-- Who is signed in. A browser alone has the id of its session, of which this is the hash; a member's password is there as
-- the hash of its hash, so that with another one the session is over.
CREATE TABLE session (
    hash BLOB PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES member ON DELETE CASCADE,
    password BLOB NOT NULL,
    began_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_member ON session (member_id);
CREATE INDEX session_by_use ON session (used_at);
