//! Counts of the visible threads and posts of forums, and the times of their newest posts.
//!
//! A forum has several rows of counts. On Postgres, a command counts in a row that no other command has locked, and adds
//! a row if all of them are locked. Commands in different threads of a forum therefore never wait for each other.

use std::sync::LazyLock;

use super::db::Dialects;

/// Adds `:threads` and `:posts` to the counts of `:forum`, of which `:newest` is the time of the newest.
pub static ADD: LazyLock<Dialects<String>> = LazyLock::new(|| {
    let sqlite = "(SELECT min(id) FROM forum_count WHERE forum_id = :forum)";
    let postgres = "coalesce(
        (SELECT id FROM forum_count WHERE forum_id = :forum ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED),
        nextval(pg_get_serial_sequence('forum_count', 'id'))
    )";
    Dialects { sqlite: ("max", sqlite), postgres: ("greatest", postgres) }.map(|(later, id)| {
        format!(
            "INSERT INTO forum_count (id, forum_id, thread_count, post_count, newest_at)
            VALUES ({id}, :forum, :threads, :posts, :newest)
            ON CONFLICT (id) DO UPDATE SET
                thread_count = forum_count.thread_count + excluded.thread_count,
                post_count = forum_count.post_count + excluded.post_count,
                newest_at = {later}(forum_count.newest_at, excluded.newest_at)"
        )
    })
});

/// Returns a query of the time of the newest thread or reply of a forum, also after its deletion. A thread or reply of a
/// command that has not committed yet can be newer.
pub fn newest(forum: &str) -> String {
    format!("(SELECT coalesce(max(newest_at), 0) FROM forum_count WHERE forum_id = {forum})")
}

/// Columns of the counts of a forum.
pub const COLUMNS: &str = "
    (SELECT CAST(coalesce(sum(thread_count), 0) AS BIGINT) FROM forum_count WHERE forum_id = forum.id) AS thread_count,
    (SELECT CAST(coalesce(sum(post_count), 0) AS BIGINT) FROM forum_count WHERE forum_id = forum.id) AS post_count";
