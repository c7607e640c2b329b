//! Moderation of threads and posts by an operator.

use std::ops::ControlFlow::{Break, Continue};

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{ContentState, Timestamp};
use forum_api::webhook::Event;

use super::post_events::EventScope;
use super::post_row::PostRow;
use super::waiting_replies;
use crate::board::access::board_rules::BoardRules;
use crate::board::db::{Connection, Row, Transaction, bind};
use crate::board::events::EventRecorder;
use crate::board::locks::{self, LockTarget, PostTarget};
use crate::board::polls;

/// Makes a post that awaits approval visible. For a first post, also makes its thread visible.
pub async fn approve(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    post: i64,
) -> BoardResult<()> {
    let mut item = lock_and_load(tx, post).await?;
    check_state(&item, ContentState::AwaitingApproval, "awaiting approval")?;
    let on_profiles = BoardRules::load(tx).await?.counts(item.forum);
    item.change_state(tx, events, ContentState::Visible, on_profiles).await?;
    publish_waiting(tx, events, &item).await
}

/// Records the events of the changes to the replies and to the poll of a thread while it was hidden, after the events of
/// `item`, its first post. Does nothing unless the thread is visible now.
async fn publish_waiting(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    item: &PostRow,
) -> BoardResult<()> {
    if !item.first || item.state != ContentState::Visible {
        return Ok(());
    }
    waiting_replies::publish(tx, events, item.thread).await?;
    polls::publish(tx, events, item).await
}

/// Restores a deleted post to its state before the deletion. For a first post, also restores its thread.
pub async fn restore(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    post: i64,
) -> BoardResult<()> {
    let item = lock_and_load(tx, post).await?;
    check_state(&item, ContentState::Deleted, "deleted")?;
    restore_locked(tx, events, item, &BoardRules::load(tx).await?).await.map(drop)
}

/// Soft-deletes a post as a moderator does. For a first post, also deletes its thread. Returns `false` if the post is
/// already deleted.
pub async fn delete(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    post: i64,
) -> BoardResult<bool> {
    let item = lock_and_load(tx, post).await?;
    delete_locked(tx, events, item, &BoardRules::load(tx).await?).await
}

/// End of the details of the entry about a deletion of the posts of a member that has not reached its last post.
pub const UNFINISHED: &str = "; unfinished";

/// Returns the time of the first unfinished deletion with these details.
pub async fn unfinished_since(
    connection: &Connection<'_>,
    details: String,
) -> BoardResult<Option<Timestamp>> {
    let find = "
        SELECT min(occurred_at) AS began_at FROM forum_api_audit_log
        WHERE action = 'post.deleted' AND details = CAST(?1 AS TEXT)";
    connection.one(find, bind![details], |row| row.value("began_at")).await
}

/// Marks those unfinished deletions as ended that began since a time and whose details begin with this text.
pub async fn end_deletions(
    tx: &Transaction<'_>,
    begins: String,
    since: Timestamp,
) -> BoardResult<()> {
    let update = "
        UPDATE forum_api_audit_log SET details = substr(details, 1, length(details) - length(CAST(?3 AS TEXT)))
        WHERE action = 'post.deleted' AND occurred_at >= ?2 AND details LIKE '%' || CAST(?3 AS TEXT)
            AND substr(details, 1, length(CAST(?1 AS TEXT))) = CAST(?1 AS TEXT)";
    tx.execute(update, bind![begins, since, UNFINISHED]).await.map(drop)
}

/// Maximum number of posts that one transaction reads and changes.
const MAX_BATCH: i64 = 20;

/// Maximum length of the indexed words of these posts together, in characters. A longer post is changed in a transaction of
/// its own. The index of Postgres takes up to 50 ms for a post with 8,000 distinct words (`MAX_DISTINCT_WORDS`).
pub const MAX_BATCH_LENGTH: i64 = 25_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateChange {
    Delete,
    Restore,
}

/// Posts of a member that an operator deletes or restores. First posts are deleted last and restored first, so that a reply
/// has its own event even if the member also wrote the first post of its thread.
#[derive(Clone, Copy, Debug)]
pub struct PostsOfMember {
    author: i64,
    change: StateChange,
    /// The earliest time of creation, or of the deletion that is undone.
    since: Timestamp,
    are_first: bool,
    /// Time and id of the last post that was read.
    after: (i64, i64),
}

impl PostsOfMember {
    /// Returns the posts that were created since a time, to delete them.
    pub const fn to_delete(author: i64, since: Timestamp) -> Self {
        Self { author, change: StateChange::Delete, since, are_first: false, after: (i64::MIN, 0) }
    }

    /// Returns the posts that were deleted since a time, by any member or command, to restore them.
    pub const fn to_restore(author: i64, since: Timestamp) -> Self {
        Self { author, change: StateChange::Restore, since, are_first: true, after: (i64::MIN, 0) }
    }

    /// Reads the next posts, up to `MAX_BATCH` and `MAX_BATCH_LENGTH`, and changes those of the list as [`delete`] or
    /// [`restore`] does. Returns the number of changed posts, and the rest of the list; `None` at its end.
    pub async fn change_batch(
        self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
    ) -> BoardResult<(u64, Option<Self>)> {
        const TO_DELETE: &str = "
            SELECT
                id, written_at,
                CASE
                    WHEN created_at >= :since AND state <> 'deleted' AND (number = 1) = :first
                    THEN CAST(length(body_words) AS BIGINT)
                END AS length
            FROM post
            WHERE author_id = :author AND (written_at, id) > (:time, :post)
            ORDER BY written_at, id LIMIT :rows";
        const TO_RESTORE: &str = "
            SELECT
                id, written_at,
                CASE
                    WHEN coalesce(deleted_at, 0) >= :since AND state = 'deleted' AND (number = 1) = :first
                    THEN CAST(length(body_words) AS BIGINT)
                END AS length
            FROM post
            WHERE author_id = :author AND (written_at, id) > (:time, :post)
            ORDER BY written_at, id LIMIT :rows";
        let find = match self.change {
            StateChange::Delete => TO_DELETE,
            StateChange::Restore => TO_RESTORE,
        };
        let (time, post) = self.after;
        let parameters = bind! {
            ":author": self.author, ":since": self.since, ":first": self.are_first, ":time": time,
            ":post": post, ":rows": MAX_BATCH,
        };
        let mut after = None;
        let mut posts: Vec<i64> = Vec::new();
        let mut batch_length = 0_i64;
        let mut read = |row: &Row<'_>| {
            let post = row.value("id")?;
            // The length is null for posts that are not changed.
            if let Some(length) = row.value::<Option<i64>>("length")? {
                batch_length += length;
                if batch_length > MAX_BATCH_LENGTH && !posts.is_empty() {
                    return Ok(Break(()));
                }
                posts.push(post);
            }
            after = Some((row.value("written_at")?, post));
            Ok(Continue(()))
        };
        tx.each_row(find, parameters, &mut read).await?;
        let Some(after) = after else {
            let ends_with_first_posts = self.change == StateChange::Delete;
            let others = Self { are_first: !self.are_first, after: (i64::MIN, 0), ..self };
            return Ok((0, (self.are_first != ends_with_first_posts).then_some(others)));
        };
        let mut changed = 0;
        if !posts.is_empty() {
            locks::posts(tx, &posts).await?;
            let rules = BoardRules::load(tx).await?;
            for post in posts {
                if let Some(item) = PostRow::load(tx, post).await? {
                    let is_changed = match self.change {
                        StateChange::Delete => delete_locked(tx, events, item, &rules).await?,
                        StateChange::Restore => restore_locked(tx, events, item, &rules).await?,
                    };
                    changed += u64::from(is_changed);
                }
            }
        }
        Ok((changed, Some(Self { after, ..self })))
    }
}

/// Number of posts that [`PostsOfMember::to_delete`] selects, and of the threads that are deleted with them.
#[derive(Clone, Copy, Debug)]
pub struct PostCount {
    pub posts: usize,
    pub threads: usize,
}

/// Counts the posts of a member since a time that are not deleted.
pub async fn count_posts(
    connection: &Connection<'_>,
    author: i64,
    since: Timestamp,
) -> BoardResult<PostCount> {
    let count = "
        SELECT count(*) AS posts, count(CASE WHEN number = 1 THEN 1 END) AS threads FROM post
        WHERE author_id = :author AND state <> 'deleted' AND created_at >= :since";
    let parameters = bind! { ":author": author, ":since": since };
    connection
        .one(count, parameters, |row| {
            Ok(PostCount { posts: row.count("posts")?, threads: row.count("threads")? })
        })
        .await
}

/// Restores a post whose rows are locked. Returns `false` if the post is not deleted.
async fn restore_locked(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    mut item: PostRow,
    rules: &BoardRules,
) -> BoardResult<bool> {
    if item.state != ContentState::Deleted {
        return Ok(false);
    }
    let before = item.state_before.unwrap_or(ContentState::Visible);
    item.change_state(tx, events, before, rules.counts(item.forum)).await?;
    publish_waiting(tx, events, &item).await?;
    Ok(true)
}

/// Deletes a post whose rows are locked. Returns `false` if the post is already deleted.
async fn delete_locked(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    mut item: PostRow,
    rules: &BoardRules,
) -> BoardResult<bool> {
    if item.state == ContentState::Deleted {
        return Ok(false);
    }
    item.change_state(tx, events, ContentState::Deleted, rules.counts(item.forum)).await?;
    Ok(true)
}

/// Locks and loads a post.
async fn lock_and_load(tx: &Transaction<'_>, post: i64) -> BoardResult<PostRow> {
    LockTarget::Post(PostTarget { thread: None, post }).lock(tx, None).await?;
    let absent = || BoardError::not_found(format!("unknown post \"{post}\""));
    PostRow::load(tx, post).await?.ok_or_else(absent)
}

fn check_state(item: &PostRow, state: ContentState, name: &str) -> BoardResult<()> {
    if item.state != state {
        return Err(BoardError::conflict(format!("post {} is not {name}", item.post)));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadFlag {
    Locked,
    Pinned,
}

/// Sets or removes a flag of a thread. Its version changes with the flag, and a visible thread has an event. Returns `false`
/// if the flag is set or removed already.
pub async fn set_flag(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    thread: i64,
    flag: ThreadFlag,
    on: bool,
) -> BoardResult<bool> {
    let update = match flag {
        ThreadFlag::Locked => {
            "UPDATE thread SET
                locked = ?2, version = version + 1, update_waits = update_waits OR state = 'awaiting_approval'
            WHERE id = ?1 AND locked <> ?2"
        }
        ThreadFlag::Pinned => {
            "UPDATE thread SET
                pinned = ?2, version = version + 1, update_waits = update_waits OR state = 'awaiting_approval'
            WHERE id = ?1 AND pinned <> ?2"
        }
    };
    let is_changed = tx.execute(update, bind![thread, on]).await? > 0;
    if !is_changed && !tx.any("SELECT 1 FROM thread WHERE id = ?1", bind![thread]).await? {
        return Err(BoardError::not_found(format!("unknown thread \"{thread}\"")));
    }
    if is_changed && events.has_readers {
        let scope = EventScope::load(tx, thread, events.actor).await?;
        if scope.thread.state == ContentState::Visible {
            events.record(|meta| Event::thread_updated(meta, scope.context()))?;
        }
    }
    Ok(is_changed)
}
