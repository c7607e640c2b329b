//! Who may edit or delete which post: pure functions of values.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::time::Duration;

use forum_api::host::Refusal;
use forum_api::model::{State, Timestamp};
use serde_json::Value;

use super::access::Access;
use super::texts::Texts;

/// How long an author may change a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum Window {
    /// Until so many minutes have passed since it was written.
    Minutes(u32),
    /// For ever.
    Unlimited,
}

impl Window {
    /// Whether what was `written` then may still be changed `now`.
    pub fn is_open(self, written: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::Minutes(minutes) => now.since(written) < MINUTE * minutes,
            Self::Unlimited => true,
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Minutes(minutes) => minutes.fmt(f),
            Self::Unlimited => f.write_str(UNLIMITED),
        }
    }
}

impl FromStr for Window {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        match text {
            UNLIMITED => Ok(Self::Unlimited),
            minutes => minutes.parse().map(Self::Minutes),
        }
    }
}

impl From<Window> for Value {
    fn from(window: Window) -> Self {
        match window {
            Window::Minutes(minutes) => minutes.into(),
            Window::Unlimited => UNLIMITED.into(),
        }
    }
}

const UNLIMITED: &str = "unlimited";

/// What is to be done to a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Give it another body.
    Edit,
    /// Soft-delete it, and its thread with it if it is the first one.
    Delete,
}

/// A post, as far as these rules go.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Whether the caller wrote it.
    pub own: bool,
    /// Whether it is the first of its thread.
    pub first: bool,
    /// Whether only moderators may change its thread.
    pub locked: bool,
    /// Whether it is there for everybody.
    pub state: State,
    /// When it was written.
    pub written: Timestamp,
}

/// A kind of refusal, and what the board says with it.
pub type Obstacle = (fn(String) -> Refusal, fn(&Texts) -> &'static str);

/// What keeps somebody with this access from changing a post that they see.
pub fn obstacle(
    access: Access,
    post: Subject,
    change: Change,
    window: Window,
    now: Timestamp,
) -> Option<Obstacle> {
    let bound = !access.moderate;
    let takes_moderator = post.first && change == Change::Delete;
    let rules: [(bool, Obstacle); 6] = [
        (
            change == Change::Edit && !access.reply,
            (Refusal::Forbidden, |say| say.may_not_reply),
        ),
        (
            bound && !post.own,
            (Refusal::Forbidden, |say| say.not_yours),
        ),
        (
            bound && takes_moderator,
            (Refusal::Forbidden, |say| say.takes_moderator),
        ),
        (bound && post.locked, (Refusal::Forbidden, |say| say.locked)),
        (
            bound && !window.is_open(post.written, now),
            (Refusal::Forbidden, |say| say.too_late),
        ),
        (
            post.state == State::Deleted,
            (Refusal::Conflict, |say| say.deleted),
        ),
    ];
    let broken = rules.into_iter().find(|(is_broken, _)| *is_broken);
    broken.map(|(_, obstacle)| obstacle)
}

const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use forum_api::Language;
    use proptest::prelude::*;

    use super::*;

    const SAY: &Texts = Texts::of(Language::English);
    const HALF_AN_HOUR: Window = Window::Minutes(30);
    const OWN_REPLY: Subject = Subject {
        own: true,
        first: false,
        locked: false,
        state: State::Visible,
        written: Timestamp::from_millis(0),
    };

    fn said(moderate: bool, post: Subject, change: Change, window: Window) -> Option<&'static str> {
        let access = Access {
            moderate,
            reply: true,
            ..Access::default()
        };
        let now = Timestamp::default().plus(MINUTE);
        obstacle(access, post, change, window, now).map(|(_, text)| text(SAY))
    }

    #[test]
    fn authors_change_their_own_replies_in_open_threads_in_time() {
        let closed = Window::Minutes(1);
        for (post, change, window, reason) in [
            (OWN_REPLY, Change::Edit, HALF_AN_HOUR, None),
            (OWN_REPLY, Change::Delete, HALF_AN_HOUR, None),
            (OWN_REPLY, Change::Edit, Window::Unlimited, None),
            (OWN_REPLY, Change::Edit, closed, Some(SAY.too_late)),
            (OWN_REPLY, Change::Delete, closed, Some(SAY.too_late)),
            (
                Subject {
                    own: false,
                    ..OWN_REPLY
                },
                Change::Edit,
                HALF_AN_HOUR,
                Some(SAY.not_yours),
            ),
            (
                Subject {
                    locked: true,
                    ..OWN_REPLY
                },
                Change::Delete,
                HALF_AN_HOUR,
                Some(SAY.locked),
            ),
            (
                Subject {
                    first: true,
                    ..OWN_REPLY
                },
                Change::Edit,
                HALF_AN_HOUR,
                None,
            ),
            (
                Subject {
                    first: true,
                    ..OWN_REPLY
                },
                Change::Delete,
                HALF_AN_HOUR,
                Some(SAY.takes_moderator),
            ),
            (
                Subject {
                    state: State::AwaitingApproval,
                    ..OWN_REPLY
                },
                Change::Edit,
                HALF_AN_HOUR,
                None,
            ),
        ] {
            let found = said(false, post, change, window);
            assert_eq!(found, reason, "{change:?} of {post:?}");
        }
    }

    #[test]
    fn moderators_change_whatever_is_not_deleted() {
        let worst = Subject {
            own: false,
            first: true,
            locked: true,
            ..OWN_REPLY
        };
        let deleted = Subject {
            state: State::Deleted,
            ..worst
        };
        for change in [Change::Edit, Change::Delete] {
            assert_eq!(said(true, worst, change, Window::Minutes(0)), None);
            let gone = said(true, deleted, change, Window::Unlimited);
            assert_eq!(gone, Some(SAY.deleted));
        }
    }

    #[test]
    fn no_post_is_edited_where_the_editor_may_not_reply() {
        let now = Timestamp::default().plus(MINUTE);
        for moderate in [false, true] {
            let access = Access {
                moderate,
                ..Access::default()
            };
            let said = |change| {
                obstacle(access, OWN_REPLY, change, HALF_AN_HOUR, now).map(|(_, text)| text(SAY))
            };
            assert_eq!(said(Change::Edit), Some(SAY.may_not_reply));
            assert_eq!(said(Change::Delete), None);
        }
    }

    proptest! {
        #[test]
        fn a_window_is_open_up_to_its_very_end(minutes: u32, written in 0..1_i64 << 40, passed in 0..1_i64 << 50) {
            let (start, now) = (Timestamp::from_millis(written), Timestamp::from_millis(written + passed));
            let open = passed < i64::from(minutes) * 60_000;
            prop_assert_eq!(Window::Minutes(minutes).is_open(start, now), open);
            prop_assert!(Window::Unlimited.is_open(start, now));
        }

        #[test]
        fn a_window_is_read_as_it_is_written(minutes: u32) {
            for window in [Window::Minutes(minutes), Window::Unlimited] {
                prop_assert_eq!(window.to_string().parse(), Ok(window));
            }
        }
    }

    #[test]
    fn a_window_is_a_number_or_the_word() {
        for text in ["", "-1", "1.5", "Unlimited", " unlimited", "never"] {
            assert!(text.parse::<Window>().is_err(), "{text:?}");
        }
    }
}
