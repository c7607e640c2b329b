//! A thread as a caller sees its posts: the rules on reading, editing and deleting them.

use forum_api::host::{BackendResult, BoardResult};
use forum_api::model::{ContentState, Post, PostId, Thread, Timestamp, UserId};

use super::public_post::{AnsweredPost, PublicPost};
use crate::board::access::actor::Actor;
use crate::board::access::permissions::ForumPermissions;
use crate::board::access::visibility::is_visible;
use crate::board::db::Row;
use crate::board::rules::Denial;
use crate::board::settings::EDIT_WINDOW;

/// A change of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostChange {
    Edit,
    /// Soft-deletes the post, and its thread if it is the first one.
    Delete,
}

/// The values of a thread on which the rules depend, and the access of the caller.
#[derive(Debug)]
pub struct ThreadView {
    pub forum: i64,
    locked: bool,
    first_post: Option<PostId>,
    pub access: ForumPermissions,
    /// Time for edits and deletions in minutes.
    edit_window: i64,
    /// The caller; `None` for the guest.
    member: Option<UserId>,
    now: Timestamp,
}

impl ThreadView {
    /// The columns that [`read`](Self::read) expects.
    pub const COLUMNS: &str = "thread.forum_id, thread.locked, thread.first_post_id";

    pub fn read(row: &Row<'_>, actor: &Actor, now: Timestamp) -> BackendResult<Self> {
        let forum = row.value("forum_id")?;
        let first_post = row.maybe_id("first_post_id")?;
        Ok(Self::new(forum, row.value("locked")?, first_post, actor, now))
    }

    pub fn of(thread: &Thread, actor: &Actor, now: Timestamp) -> BoardResult<Self> {
        let forum = thread.forum_id.to_i64()?;
        let first_post = Some(thread.first_post_id.clone());
        Ok(Self::new(forum, thread.locked, first_post, actor, now))
    }

    fn new(
        forum: i64,
        locked: bool,
        first_post: Option<PostId>,
        actor: &Actor,
        now: Timestamp,
    ) -> Self {
        Self {
            forum,
            locked,
            first_post,
            access: actor.access(forum),
            edit_window: actor.settings.of(&EDIT_WINDOW),
            member: actor.member.map(UserId::from),
            now,
        }
    }

    /// Returns a post as the caller sees it.
    pub fn show(&self, PublicPost { mut post, answered }: PublicPost) -> Post {
        let answered = answered.filter(|answered| self.sees(answered));
        post.in_reply_to = answered.map(|answered| answered.post_id);
        post.can_edit = self.denial(PostChange::Edit, &post).is_none();
        post.can_delete = self.denial(PostChange::Delete, &post).is_none();
        post.can_read_deleted = self.access.moderate;
        post
    }

    /// Returns `true` if the caller, who sees the thread, also sees the answered post.
    pub fn sees(&self, answered: &AnsweredPost) -> bool {
        is_visible(self.access, answered.state, self.is_caller(answered.author.as_ref()))
    }

    /// Returns `true` if this author is the caller.
    pub fn is_caller(&self, author: Option<&UserId>) -> bool {
        author.is_some() && author == self.member.as_ref()
    }

    /// Returns the reason why the caller may not change a post that they see.
    pub fn denial(&self, change: PostChange, post: &Post) -> Option<Denial> {
        let is_limited = !self.access.moderate;
        let is_own = self.is_caller(post.author.as_ref().map(|author| &author.user_id));
        let is_edit = change == PostChange::Edit;
        let is_first = self.first_post.as_ref() == Some(&post.post_id);
        let is_late = !is_open(self.edit_window, post.created_at, self.now);
        let is_deleted = post.state == ContentState::Deleted;
        let may_not_reply = !self.access.reply;
        let moderators_only =
            Denial::forbidden(|texts| texts.first_post_needs_moderator, "not_allowed");
        let closed = Denial::forbidden(|texts| texts.edit_window_closed, "edit_window");
        let rules = [
            (
                is_edit && may_not_reply,
                Denial::forbidden(|texts| texts.may_not_edit, "not_allowed"),
            ),
            (is_limited && !is_own, Denial::forbidden(|texts| texts.not_author, "not_allowed")),
            (is_limited && is_first && !is_edit, moderators_only),
            (is_limited && self.locked, Denial::forbidden(|texts| texts.locked, "locked")),
            (is_limited && is_late, closed),
            (is_deleted, Denial::conflict(|texts| texts.deleted, "already_deleted")),
        ];
        rules.into_iter().find_map(|(is_broken, denial)| is_broken.then_some(denial))
    }
}

/// Returns whether a post that was written at `written` may still be changed at `now`. `window` is in minutes.
fn is_open(window: i64, written: Timestamp, now: Timestamp) -> bool {
    let minutes = now.saturating_duration_since(written).as_secs() / 60;
    minutes < window.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::settings::UNLIMITED;

    #[test]
    fn an_edit_window_is_open_until_its_end() {
        let open = |window, passed| {
            let written = Timestamp::from_millis(7);
            is_open(window, written, Timestamp::from_millis(7 + passed))
        };
        assert!(open(2, 119_999) && !open(2, 120_000));
        assert!(!open(0, 0) && open(UNLIMITED, i64::MAX >> 10));
    }
}
