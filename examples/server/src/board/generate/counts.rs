//! Counts many new posts at once, as the board's commands count each.

use super::super::db::{Result, Transaction, bind};
use super::super::sight::between_commas;

/// Counts all posts after the `last` one that was counted. They are newer than all others, and visible; those in the
/// forums `on_profiles` count on their authors' profiles.
pub async fn count(tx: &Transaction<'_>, last: i64, on_profiles: &[i64]) -> Result<()> {
    tx.change(THREADS, bind! { ":last": last }).await?;
    tx.change(FORUMS, bind! { ":last": last }).await?;
    let forums = between_commas(on_profiles.iter().copied());
    let profiles = bind! { ":last": last, ":forums": forums };
    tx.change(PROFILES, profiles).await.map(drop)
}

const THREADS: &str = "
    UPDATE thread SET
        last_number = added.last_number,
        reply_count = reply_count + added.replies,
        last_post_id = added.last_post,
        last_activity_at = added.newest
    FROM (
        SELECT
            thread_id, max(number) AS last_number, sum(CASE WHEN number = 1 THEN 0 ELSE 1 END) AS replies,
            max(id) AS last_post, max(created_at) AS newest
        FROM post WHERE id > :last GROUP BY thread_id
    ) AS added
    WHERE thread.id = added.thread_id";

const FORUMS: &str = "
    UPDATE forum SET
        thread_count = thread_count + added.threads,
        post_count = post_count + added.posts,
        last_activity_at = added.newest
    FROM (
        SELECT
            thread.forum_id, sum(CASE WHEN post.number = 1 THEN 1 ELSE 0 END) AS threads,
            count(*) AS posts, max(post.created_at) AS newest
        FROM post JOIN thread ON thread.id = post.thread_id
        WHERE post.id > :last AND thread.state = 'visible' GROUP BY thread.forum_id
    ) AS added
    WHERE forum.id = added.forum_id";

const PROFILES: &str = "
    UPDATE member SET post_count = post_count + added.posts
    FROM (
        SELECT post.author_id, count(*) AS posts
        FROM post JOIN thread ON thread.id = post.thread_id
        WHERE post.id > :last AND thread.state = 'visible' AND instr(:forums, ',' || thread.forum_id || ',') > 0
        GROUP BY post.author_id
    ) AS added
    WHERE member.id = added.author_id";
