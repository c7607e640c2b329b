-- The post of the same thread that a post answers. It has no index: rows of posts are never deleted.
ALTER TABLE post ADD COLUMN in_reply_to BIGINT REFERENCES post ON DELETE SET NULL;
