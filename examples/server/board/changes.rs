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
    let rules: [(bool, Obstacle); 5] = [
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
