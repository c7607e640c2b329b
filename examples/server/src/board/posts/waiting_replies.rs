//! Replies that were changed while their thread was hidden. Their events are sent when the thread is visible again: the first
//! ones with the change of the thread, and the others by batches, because there can be any number of them.

use std::sync::LazyLock;

use forum_api::host::BoardResult;

use super::post_row::{MARK_SENT, PostRow};
use crate::board::db::{Transaction, bind, json};
use crate::board::events::EventRecorder;

/// Number of events from which a transaction leaves the events of further replies to batches.
const MAX_EVENTS: usize = 20;

const UNMARK: &str = "DELETE FROM thread_publication WHERE thread_id = ?1";

/// Records the next events of the changed replies of a visible thread. Marks the thread for [`run_batch`] if there are more, and
/// otherwise removes the mark. Also removes the replies of erased members, whose rows stayed for these events.
pub async fn publish(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    thread: i64,
) -> BoardResult<()> {
    static FIND: LazyLock<String> = LazyLock::new(|| {
        let columns = PostRow::COLUMNS;
        format!(
            "SELECT {columns} FROM post JOIN thread ON thread.id = post.thread_id
            WHERE post.thread_id = ?1 AND post.update_waits ORDER BY post.id LIMIT ?2"
        )
    });
    const REMOVE_ERASED: &str = "
        DELETE FROM post
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1)) AND erased";
    const MARK: &str = "
        INSERT INTO thread_publication (thread_id) VALUES (?1)
        ON CONFLICT (thread_id) DO UPDATE SET batches = thread_publication.batches + 1";
    let most = MAX_EVENTS.saturating_sub(events.count());
    // One more than are sent shows whether any are left.
    let rows = most as i64 + 1;
    let mut replies = tx.all(&FIND, bind![thread, rows], PostRow::read).await?;
    let are_left = replies.len() > most;
    replies.truncate(most);
    let ids: Vec<_> = replies.iter().map(|reply| reply.post).collect();
    for reply in replies {
        reply.record_missing(tx, events).await?;
    }
    if !ids.is_empty() {
        let ids = json(&ids)?;
        for statement in [MARK_SENT, REMOVE_ERASED] {
            tx.execute(statement, bind![ids]).await?;
        }
    }
    tx.execute(if are_left { MARK } else { UNMARK }, bind![thread]).await.map(drop)
}

/// Returns the marked thread with the fewest batches; `None` if no thread is marked.
pub async fn marked_thread(tx: &Transaction<'_>) -> BoardResult<Option<i64>> {
    let find = "SELECT thread_id FROM thread_publication ORDER BY batches, thread_id LIMIT 1";
    tx.first(find, &[], |row| row.value("thread_id")).await
}

/// Records the next events of a marked thread, whose row is locked. If the thread was hidden again, only removes the mark: the
/// replies still wait.
pub async fn run_batch(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    thread: i64,
) -> BoardResult<()> {
    let is_visible = "SELECT 1 FROM thread WHERE id = ?1 AND state = 'visible'";
    if tx.any(is_visible, bind![thread]).await? {
        return publish(tx, events, thread).await;
    }
    tx.execute(UNMARK, bind![thread]).await.map(drop)
}
