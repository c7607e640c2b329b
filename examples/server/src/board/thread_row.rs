//! A thread as statements read it, without permissions.

use forum_api::host::BackendResult;
use forum_api::model::{LastPost, Thread};

use super::db::Row;

/// Columns of a thread.
pub const COLUMNS: &str = "
    thread.id AS thread_id, thread.forum_id, thread.title, thread.state AS thread_state, thread.first_post_id,
    thread.created_at AS thread_created_at,
    starter.id AS starter_id, starter.username AS starter_name, starter.avatar_url AS starter_avatar,
    thread.last_activity_at, thread.last_post_id, last_author.id AS last_author_id,
    last_author.username AS last_author_name, last_author.avatar_url AS last_author_avatar,
    thread.reply_count, thread.pinned, thread.locked, poll.id AS poll_id, thread.version AS thread_version";

/// The joins that [`COLUMNS`] needs.
pub const JOINS: &str = "
    LEFT JOIN member AS starter ON starter.id = thread.author_id
    LEFT JOIN member AS last_author ON last_author.id = thread.last_author_id
    LEFT JOIN poll ON poll.thread_id = thread.id";

/// Reads a thread without permissions.
pub fn read_thread(row: &Row<'_>) -> BackendResult<Thread> {
    let mut thread = Thread::new(
        row.id("thread_id")?,
        row.id("forum_id")?,
        row.value::<String>("title")?,
        row.state("thread_state")?,
        row.id("first_post_id")?,
        row.value("thread_created_at")?,
    );
    thread.author = row.author(["starter_id", "starter_name", "starter_avatar"])?;
    thread.last_activity_at = row.value("last_activity_at")?;
    if let Some(post_id) = row.maybe_id("last_post_id")? {
        // The last post was created at the last activity.
        let mut last = LastPost::new(post_id, thread.last_activity_at);
        last.author = row.author(["last_author_id", "last_author_name", "last_author_avatar"])?;
        thread.last_post = Some(last);
    }
    thread.reply_count = row.count("reply_count")?;
    thread.pinned = row.value("pinned")?;
    thread.locked = row.value("locked")?;
    thread.poll_id = row.maybe_id("poll_id")?;
    thread.version = row.value("thread_version")?;
    Ok(thread)
}
