//! A thread as statements read it, without permissions.

use forum_api::model::{LastPost, PostId, Thread, Timestamp};

use super::db::{self, RowReader};

/// Columns of a thread.
pub const COLUMNS: &str = "
    thread.id, thread.forum_id, thread.title, thread.state, thread.first_post_id, thread.created_at,
    starter.id, starter.username, starter.avatar_url, thread.last_activity_at,
    thread.last_post_id, last_author.id, last_author.username, last_author.avatar_url,
    thread.reply_count, thread.pinned, thread.locked, poll.id, thread.version";

/// The joins that [`COLUMNS`] needs.
pub const JOINS: &str = "
    LEFT JOIN member AS starter ON starter.id = thread.author_id
    LEFT JOIN member AS last_author ON last_author.id = thread.last_author_id
    LEFT JOIN poll ON poll.thread_id = thread.id";

/// Reads a thread without permissions.
pub fn read_thread(row: &mut RowReader<'_>) -> db::DbResult<Thread> {
    let mut thread = Thread::new(
        row.id()?,
        row.id()?,
        row.value::<String>()?,
        row.state()?,
        row.id()?,
        row.value()?,
    );
    thread.author = row.author()?;
    thread.last_activity_at = row.value()?;
    thread.last_post = last_post(row, thread.last_activity_at)?;
    thread.reply_count = row.count()?;
    thread.pinned = row.value()?;
    thread.locked = row.value()?;
    thread.poll_id = row.maybe_id()?;
    thread.version = row.value()?;
    Ok(thread)
}

/// Reads the last post, which was created at the last activity of its thread.
fn last_post(row: &mut RowReader<'_>, created_at: Timestamp) -> db::DbResult<Option<LastPost>> {
    let post_id: Option<PostId> = row.maybe_id()?;
    let author = row.author()?;
    Ok(post_id.map(|post_id| {
        let mut last = LastPost::new(post_id, created_at);
        last.author = author;
        last
    }))
}
