-- Who is signed in. A browser alone has the id of its session, of which this is the hash; a member's password is there as
-- the hash of its hash, so that with another one the session is over.
CREATE TABLE session (
    hash BYTEA PRIMARY KEY,
    member_id BIGINT NOT NULL REFERENCES member ON DELETE CASCADE,
    password BYTEA NOT NULL,
    began_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL
);

CREATE INDEX session_by_member ON session (member_id);
CREATE INDEX session_by_use ON session (used_at);
