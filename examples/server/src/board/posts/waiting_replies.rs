//! Replies that were changed while their thread was hidden. Their events are sent when the thread is visible again: the first
//! ones with the change of the thread, and the others by batches, because there can be any number of them.

use std::sync::LazyLock;

use forum_api::host::BoardResult;
use forum_api::model::ContentState;

use super::post_events::EventScope;
use super::post_row::PostRow;
use crate::board::db::{Transaction, bind, json};
use crate::board::events::EventRecorder;
use crate::board::locks::LockTarget;

/// Maximum number of events of a transaction that sends those of changed replies.
const MAX_EVENTS: usize = 20;

/// Returns a query of the changed replies that `condition` selects.
fn select(condition: &str) -> String {
    let columns = PostRow::COLUMNS;
    format!(
        "SELECT {columns} FROM post JOIN thread ON thread.id = post.thread_id
        WHERE post.update_waits AND {condition} ORDER BY post.id"
    )
}

/// Records the first events of the changed replies of a thread after the events of `item`, its first post, and leaves the
/// others to batches. Does nothing unless the thread is visible now.
pub async fn publish(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    item: &PostRow,
) -> BoardResult<()> {
    if !item.first || item.state != ContentState::Visible {
        return Ok(());
    }
    publish_next(tx, events, item.thread).await
}

/// Records the next events of the changed replies of a visible thread, up to [`MAX_EVENTS`] of the transaction. Marks the thread
/// if there are more, and otherwise removes the mark.
async fn publish_next(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    thread: i64,
) -> BoardResult<()> {
    static FIND: LazyLock<String> =
        LazyLock::new(|| format!("{} LIMIT ?2", select("post.thread_id = ?1")));
    const PUBLISH: &str = "
        UPDATE post SET
            update_waits = FALSE, published = published OR state = 'visible',
            withdrawn = CASE state WHEN 'visible' THEN FALSE WHEN 'deleted' THEN published ELSE withdrawn END,
            edit_waits = edit_waits AND state <> 'visible'
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))";
    const MARK: &str = "UPDATE thread SET replies_wait = ?2 WHERE id = ?1 AND replies_wait <> ?2";
    let most = MAX_EVENTS.saturating_sub(events.count());
    // One more than fit shows whether any are left.
    let rows = most as i64 + 1;
    let mut replies = tx.all(&FIND, bind![thread, rows], PostRow::read).await?;
    let are_left = replies.len() > most;
    replies.truncate(most);
    if !replies.is_empty() {
        let ids: Vec<_> = replies.iter().map(|reply| reply.post).collect();
        tx.execute(PUBLISH, bind![json(&ids)?]).await?;
    }
    for reply in replies {
        reply.record_missing(tx, events).await?;
    }
    tx.execute(MARK, bind![thread, are_left]).await.map(drop)
}

/// Returns a thread whose other events are left to batches; `None` if there is none.
pub async fn marked_thread(tx: &Transaction<'_>) -> BoardResult<Option<i64>> {
    let find = "SELECT id FROM thread WHERE replies_wait ORDER BY id LIMIT 1";
    tx.first(find, &[], |row| row.value("id")).await
}

/// Records the next events of a marked thread. If the thread was hidden again, only removes the mark: the replies still wait.
pub async fn run_batch(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    thread: i64,
) -> BoardResult<()> {
    LockTarget::Thread(thread).lock(tx, None).await?;
    let unmark_hidden =
        "UPDATE thread SET replies_wait = FALSE WHERE id = ?1 AND state <> 'visible'";
    if tx.execute(unmark_hidden, bind![thread]).await? > 0 {
        return Ok(());
    }
    publish_next(tx, events, thread).await
}

/// Records the deletions of those of the posts of an erased member that were deleted in a hidden thread: after their removal,
/// they have no event when the thread is visible again. The events do not name the member.
pub async fn record_erased(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    posts: &[i64],
) -> BoardResult<()> {
    static FIND: LazyLock<String> =
        LazyLock::new(|| select("post.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))"));
    for reply in tx.all(&FIND, bind![json(posts)?], PostRow::read).await? {
        let (scope, mut post) =
            EventScope::load_with_post(tx, reply.thread, reply.post, events.actor).await?;
        post.post.author = None;
        post.post.edited_by = None;
        for kinds in reply.missing_events() {
            scope.record(events, kinds, &post.post)?;
        }
    }
    Ok(())
}
