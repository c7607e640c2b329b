//! Moderation of threads and posts by an operator.

use std::ops::ControlFlow::Continue;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{ContentState, Timestamp};

use super::post_events::{EDITED, EventScope, REPLY_RESTORED, THREAD_RESTORED, THREAD_UPDATED};
use super::post_row::PostRow;
use crate::board::access::board_rules::BoardRules;
use crate::board::db::{Row, Transaction, bind};
use crate::board::events::EventRecorder;
use crate::board::locks::{self, LockTarget, PostTarget};

/// Makes a post that awaits approval visible. For a first post, also makes its thread visible.
pub async fn approve(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    post: i64,
) -> BoardResult<()> {
    let mut item = lock_and_load(tx, post).await?;
    check_state(&item, ContentState::AwaitingApproval, "awaiting approval")?;
    set_state(tx, &mut item, ContentState::Visible).await?;
    if item.is_public() {
        item.record_waiting_update(tx, events).await?;
        item.publish(tx, events, (EDITED, EDITED)).await?;
    }
    Ok(())
}

/// Restores a deleted post to its state before the deletion. For a first post, also restores its thread.
pub async fn restore(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    post: i64,
) -> BoardResult<()> {
    let mut item = lock_and_load(tx, post).await?;
    check_state(&item, ContentState::Deleted, "deleted")?;
    let before = item.state_before.unwrap_or(ContentState::Visible);
    set_state(tx, &mut item, before).await?;
    if item.is_public() {
        item.publish(tx, events, (THREAD_RESTORED, REPLY_RESTORED)).await?;
    }
    Ok(())
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

/// Maximum number of posts that one transaction reads and deletes.
const MAX_BATCH: i64 = 20;

/// Posts of a member that are not deleted. First posts come last, so that a reply has its own event even if the member also
/// wrote the first post of its thread.
#[derive(Clone, Copy, Debug)]
pub struct PostsOfMember {
    author: i64,
    /// The earliest time of creation.
    since: Timestamp,
    are_first: bool,
    /// Time and id of the last post that was read.
    after: (i64, i64),
}

impl PostsOfMember {
    pub const fn new(author: i64, since: Timestamp) -> Self {
        Self { author, since, are_first: false, after: (i64::MIN, 0) }
    }

    /// Reads the next posts, and soft-deletes those of the list as [`delete`] does. Returns the number of deleted posts, and
    /// the rest of the list; `None` at its end.
    pub async fn delete_batch(
        self,
        tx: &Transaction<'_>,
        events: &mut EventRecorder,
    ) -> BoardResult<(u64, Option<Self>)> {
        let find = "
            SELECT
                id, written_at,
                created_at >= :since AND state <> 'deleted' AND (number = 1) = :first AS is_meant
            FROM post
            WHERE author_id = :author AND (written_at, id) > (:time, :post)
            ORDER BY written_at, id LIMIT :rows";
        let (time, post) = self.after;
        let parameters = bind! {
            ":author": self.author, ":since": self.since, ":first": self.are_first, ":time": time,
            ":post": post, ":rows": MAX_BATCH,
        };
        let mut after = None;
        let mut posts: Vec<i64> = Vec::new();
        let read = |row: &Row<'_>| {
            let post = row.value("id")?;
            after = Some((row.value("written_at")?, post));
            if row.value("is_meant")? {
                posts.push(post);
            }
            Ok(Continue(()))
        };
        tx.each_row(find, parameters, read).await?;
        let Some(after) = after else {
            let first_posts = Self { are_first: true, ..Self::new(self.author, self.since) };
            return Ok((0, (!self.are_first).then_some(first_posts)));
        };
        let mut deleted = 0;
        if !posts.is_empty() {
            locks::posts(tx, &posts).await?;
            let rules = BoardRules::load(tx).await?;
            for post in posts {
                if let Some(item) = PostRow::load(tx, post).await? {
                    deleted += u64::from(delete_locked(tx, events, item, &rules).await?);
                }
            }
        }
        Ok((deleted, Some(Self { after, ..self })))
    }
}

/// Deletes a post whose rows are locked.
async fn delete_locked(
    tx: &Transaction<'_>,
    events: &mut EventRecorder,
    mut item: PostRow,
    rules: &BoardRules,
) -> BoardResult<bool> {
    if item.state == ContentState::Deleted {
        return Ok(false);
    }
    item.delete(tx, events, rules.counts(item.forum)).await?;
    Ok(true)
}

/// Locks and loads a post.
async fn lock_and_load(tx: &Transaction<'_>, post: i64) -> BoardResult<PostRow> {
    LockTarget::Post(PostTarget { thread: None, post }).lock(tx, None).await?;
    let absent = || BoardError::not_found(format!("unknown post \"{post}\""));
    PostRow::load(tx, post).await?.ok_or_else(absent)
}

async fn set_state(tx: &Transaction<'_>, item: &mut PostRow, to: ContentState) -> BoardResult<()> {
    let on_profiles = BoardRules::load(tx).await?.counts(item.forum);
    item.set_state(tx, to, on_profiles).await
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
    if is_changed && events.has_endpoints {
        let scope = EventScope::load(tx, thread, None, events.actor).await?;
        if scope.thread.state == ContentState::Visible {
            scope.record(events, THREAD_UPDATED)?;
        }
    }
    Ok(is_changed)
}
