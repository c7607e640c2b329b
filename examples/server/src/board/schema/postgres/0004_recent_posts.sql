-- The number of the member's posts after a time, for the hourly limit of posts, and the time when they were counted last.
-- They are null until a post of the member is written.
ALTER TABLE member
    ADD COLUMN recent_posts BIGINT,
    ADD COLUMN recent_posts_after BIGINT,
    ADD COLUMN recent_posts_counted_at BIGINT;
