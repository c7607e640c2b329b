//! Rules on editing and deleting posts.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::time::Duration;

use forum_api::host::BoardError;
use forum_api::model::{ContentState, Timestamp};
use serde_json::Value;

use crate::board::access::permissions::ForumPermissions;
use crate::board::texts::Texts;

/// Time in which an author may change a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum EditWindow {
    Minutes(u32),
    Unlimited,
}

impl EditWindow {
    /// Returns whether the author may still change, at `now`, a post that was written at `written`.
    pub fn is_open(self, written: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::Minutes(minutes) => now.saturating_duration_since(written) < MINUTE * minutes,
            Self::Unlimited => true,
        }
    }
}

impl fmt::Display for EditWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minutes(minutes) => minutes.fmt(f),
            Self::Unlimited => f.write_str(UNLIMITED),
        }
    }
}

impl FromStr for EditWindow {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        match text {
            UNLIMITED => Ok(Self::Unlimited),
            minutes => minutes.parse().map(Self::Minutes),
        }
    }
}

impl From<EditWindow> for Value {
    fn from(window: EditWindow) -> Self {
        match window {
            EditWindow::Minutes(minutes) => minutes.into(),
            EditWindow::Unlimited => UNLIMITED.into(),
        }
    }
}

const UNLIMITED: &str = "unlimited";

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

/// A kind of refusal and its text.
pub type Denial = (fn(String) -> BoardError, fn(&Texts) -> &'static str);

/// Returns the reason why this caller may not change a post that they see.
pub fn check(
    access: ForumPermissions,
    post: PostFacts,
    change: PostChange,
    window: EditWindow,
    now: Timestamp,
) -> Option<Denial> {
    let is_limited = !access.moderate;
    let takes_moderator = post.first && change == PostChange::Delete;
    let rules: [(bool, Denial); 6] = [
        (
            change == PostChange::Edit && !access.reply,
            (BoardError::Forbidden, |texts| texts.may_not_edit),
        ),
        (
            is_limited && !post.own,
            (BoardError::Forbidden, |texts| texts.not_author),
        ),
        (
            is_limited && takes_moderator,
            (BoardError::Forbidden, |texts| {
                texts.first_post_needs_moderator
            }),
        ),
        (
            is_limited && post.locked,
            (BoardError::Forbidden, |texts| texts.locked),
        ),
        (
            is_limited && !window.is_open(post.written, now),
            (BoardError::Forbidden, |texts| texts.edit_window_closed),
        ),
        (
            post.state == ContentState::Deleted,
            (BoardError::Conflict, |texts| texts.deleted),
        ),
    ];
    let broken = rules.into_iter().find(|(is_broken, _)| *is_broken);
    broken.map(|(_, denial)| denial)
}

const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_window_is_open_until_its_end_and_is_parsed_from_its_text() {
        let open = |window: EditWindow, passed| {
            let written = Timestamp::from_millis(7);
            window.is_open(written, Timestamp::from_millis(7 + passed))
        };
        assert!(open(EditWindow::Minutes(2), 119_999) && !open(EditWindow::Minutes(2), 120_000));
        assert!(!open(EditWindow::Minutes(0), 0) && open(EditWindow::Unlimited, i64::MAX >> 10));
        for text in ["0", "30", "4294967295", "unlimited"] {
            assert_eq!(text.parse::<EditWindow>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "1.5", "Unlimited", " unlimited", "never"] {
            assert!(text.parse::<EditWindow>().is_err(), "{text:?}");
        }
    }
}
