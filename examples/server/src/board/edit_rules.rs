//! Rules on editing and deleting posts.

use forum_api::model::{ContentState, Timestamp};

use crate::board::access::permissions::ForumPermissions;
use crate::board::rules::Denial;

/// A change of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostChange {
    Edit,
    /// Soft-deletes the post, and its thread if it is the first one.
    Delete,
}

/// The properties of a post that the rules read.
#[derive(Clone, Copy, Debug)]
pub struct PostFacts {
    pub own: bool,
    pub first: bool,
    pub locked: bool,
    pub state: ContentState,
    pub written: Timestamp,
}

/// Returns the reason why this caller may not change a post that they see. `window` is the time for changes in minutes.
pub fn check(
    access: ForumPermissions,
    post: PostFacts,
    change: PostChange,
    window: i64,
    now: Timestamp,
) -> Option<Denial> {
    let is_limited = !access.moderate;
    let is_edit = change == PostChange::Edit;
    let needs_moderator = post.first && !is_edit;
    let is_late = !is_open(window, post.written, now);
    let is_deleted = post.state == ContentState::Deleted;
    let moderators_only =
        Denial::forbidden(|texts| texts.first_post_needs_moderator, "not_allowed");
    let rules = [
        (is_edit && !access.reply, Denial::forbidden(|texts| texts.may_not_edit, "not_allowed")),
        (is_limited && !post.own, Denial::forbidden(|texts| texts.not_author, "not_allowed")),
        (is_limited && needs_moderator, moderators_only),
        (is_limited && post.locked, Denial::forbidden(|texts| texts.locked, "locked")),
        (is_limited && is_late, Denial::forbidden(|texts| texts.edit_window_closed, "edit_window")),
        (is_deleted, Denial::conflict(|texts| texts.deleted, "already_deleted")),
    ];
    rules.into_iter().find_map(|(is_broken, denial)| is_broken.then_some(denial))
}

/// Returns whether a post that was written at `written` may still be changed at `now`.
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
