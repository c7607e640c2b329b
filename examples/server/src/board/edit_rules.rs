//! Rules on editing and deleting posts.

use forum_api::host::BoardError;
use forum_api::model::{ContentState, Timestamp};

use crate::board::access::permissions::ForumPermissions;
use crate::board::texts::Texts;

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

/// Selects the text of a refusal.
type SelectText = fn(&Texts) -> &'static str;

/// A kind of refusal and its text.
pub type Denial = (fn(String) -> BoardError, SelectText);

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
    let forbidden: [(bool, SelectText); 5] = [
        (is_edit && !access.reply, |texts| texts.may_not_edit),
        (is_limited && !post.own, |texts| texts.not_author),
        (is_limited && needs_moderator, |texts| texts.first_post_needs_moderator),
        (is_limited && post.locked, |texts| texts.locked),
        (is_limited && is_late, |texts| texts.edit_window_closed),
    ];
    match forbidden.into_iter().find(|(is_broken, _)| *is_broken) {
        Some((_, text)) => Some((BoardError::Forbidden, text)),
        None if post.state == ContentState::Deleted => {
            Some((BoardError::Conflict, |texts| texts.deleted))
        }
        None => None,
    }
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
