-- The number of the member's posts after a time, for the hourly limit of posts, and the time when they were counted last.
-- They are null until a post of the member is written.
ALTER TABLE member ADD COLUMN recent_posts INTEGER;
ALTER TABLE member ADD COLUMN recent_posts_after INTEGER;
ALTER TABLE member ADD COLUMN recent_posts_counted_at INTEGER;
