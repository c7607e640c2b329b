//! Moderation of threads and posts by an operator.

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::ContentState;

use super::post_events::{EDITED, REPLY_RESTORED, THREAD_RESTORED};
use super::post_row::PostRow;
use crate::board::access::board_rules::BoardRules;
use crate::board::db::{DbResult, Transaction, bind};
use crate::board::events::EventRecorder;
use crate::board::locks::LockTarget;

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
        item.publish(tx, events, (THREAD_RESTORED, REPLY_RESTORED))
            .await?;
    }
    Ok(())
}

/// Locks and loads a post.
async fn lock_and_load(tx: &Transaction<'_>, post: i64) -> BoardResult<PostRow> {
    LockTarget::Post(post).lock(tx, None).await?;
    let absent = || BoardError::not_found(format!("unknown post \"{post}\""));
    PostRow::load(tx, post).await?.ok_or_else(absent)
}

async fn set_state(tx: &Transaction<'_>, item: &mut PostRow, to: ContentState) -> DbResult<()> {
    let on_profiles = BoardRules::load(tx).await?.counts(item.at.forum);
    item.set_state(tx, to, on_profiles).await
}

fn check_state(item: &PostRow, state: ContentState, name: &str) -> BoardResult<()> {
    let conflict = || BoardError::conflict(format!("post {} is not {name}", item.at.post));
    (item.state == state).then_some(()).ok_or_else(conflict)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadFlag {
    Locked,
    Pinned,
}

impl ThreadFlag {
    const fn update(self) -> &'static str {
        match self {
            Self::Locked => {
                "UPDATE thread SET locked = ?2, version = version + 1 WHERE id = ?1 AND locked <> ?2"
            }
            Self::Pinned => {
                "UPDATE thread SET pinned = ?2, version = version + 1 WHERE id = ?1 AND pinned <> ?2"
            }
        }
    }
}

/// Sets or removes a flag of a thread. Its version changes with the flag. Returns `false` if the flag is set or removed
/// already.
pub async fn set_flag(
    tx: &Transaction<'_>,
    thread: i64,
    flag: ThreadFlag,
    on: bool,
) -> BoardResult<bool> {
    let changed = tx.execute(flag.update(), bind![thread, on]).await? > 0;
    let exists = changed
        || tx
            .any("SELECT 1 FROM thread WHERE id = ?1", bind![thread])
            .await?;
    let absent = || BoardError::not_found(format!("unknown thread \"{thread}\""));
    exists.then_some(changed).ok_or_else(absent)
}
