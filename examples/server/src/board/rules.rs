//! The board's rules on posting: pure functions of values.

use std::borrow::Cow;
use std::time::Duration;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{ContentState, Timestamp, is_blank, is_single_line};

use super::access::groups::{Group, Groups};
use super::access::permissions::ForumPermissions;
use super::texts::{Texts, fill};

/// Time in which posts are counted.
pub const HOUR: Duration = Duration::from_secs(60 * 60);

/// Time in which ratings are counted.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub fn check_title<'a>(text: &'a str, most: i64, texts: &Texts) -> BoardResult<&'a str> {
    check_single_line("title", text, most, texts.title_missing, texts.title_too_long, texts)
}

/// Trims and checks a single-line text of 1 to `most` characters.
pub fn check_single_line<'a>(
    field: impl Into<Cow<'static, str>>,
    text: &'a str,
    most: i64,
    missing: &str,
    too_long: &str,
    texts: &Texts,
) -> BoardResult<&'a str> {
    let trimmed = text.trim();
    let field = field.into();
    check_text(field.clone(), trimmed, most, missing, too_long)?;
    if !is_single_line(text) {
        let error = BoardError::validation(field, texts.not_single_line);
        return Err(error.with_reason("not_single_line"));
    }
    Ok(trimmed)
}

/// Returns whether a text has the `current` value apart from surrounding blanks. A text with a line break counts as changed,
/// so that its check refuses it.
pub fn is_unchanged(text: &str, current: &str) -> bool {
    text.trim() == current && is_single_line(text)
}

pub fn check_body(text: &str, most: i64, texts: &Texts) -> BoardResult<()> {
    check_text("body", text, most, texts.body_missing, texts.body_too_long)
}

pub fn check_reason(text: &str, most: i64, texts: &Texts) -> BoardResult<()> {
    check_length("reason", text, most, texts.reason_too_long)
}

/// Checks that a text is not blank and has at most `most` characters.
pub fn check_text(
    field: impl Into<Cow<'static, str>>,
    text: &str,
    most: i64,
    missing: &str,
    too_long: &str,
) -> BoardResult<()> {
    if is_blank(text) {
        return Err(BoardError::validation(field, missing).with_reason("required"));
    }
    check_length(field, text, most, too_long)
}

fn check_length(
    field: impl Into<Cow<'static, str>>,
    text: &str,
    most: i64,
    too_long: &str,
) -> BoardResult<()> {
    if text.chars().count() as i64 > most {
        let error = BoardError::validation(field, fill(too_long, most));
        return Err(error.with_reason("too_long"));
    }
    Ok(())
}

/// Checks that `interval` seconds have passed since the member's last post. Staff is exempt.
pub fn check_interval(
    last: Option<Timestamp>,
    now: Timestamp,
    interval: i64,
    groups: Groups,
    texts: &Texts,
) -> BoardResult<()> {
    let minimum = Duration::from_secs(interval.unsigned_abs());
    let waited = last.map(|last| now.saturating_duration_since(last));
    let wait = waited.map_or(Duration::ZERO, |waited| minimum.saturating_sub(waited));
    if !wait.is_zero() && !groups.are_staff() {
        let error = BoardError::invalid_content(fill(texts.post_interval, interval));
        return Err(error.with_reason("too_soon").with_retry_after(wait));
    }
    Ok(())
}

/// Checks that another item does not exceed `most` items in a `span`. `oldest` is the time of the oldest of the last
/// `most` items, or `None` if there are fewer.
pub fn check_frequency(
    oldest: Option<Timestamp>,
    now: Timestamp,
    most: i64,
    span: Duration,
    too_many: &str,
) -> BoardResult<()> {
    let wait = oldest.map(|oldest| oldest.saturating_add(span).saturating_duration_since(now));
    match wait {
        Some(wait) if !wait.is_zero() => {
            Err(BoardError::rate_limited(fill(too_many, most)).with_retry_after(wait))
        }
        _ => Ok(()),
    }
}

pub fn check_start(access: ForumPermissions, texts: &Texts) -> BoardResult<()> {
    match access {
        ForumPermissions { read: false, .. } => Err(BoardError::PathNotFound),
        ForumPermissions { start: false, .. } => {
            Err(BoardError::forbidden(texts.may_not_start).with_reason("not_allowed"))
        }
        _ => Ok(()),
    }
}

/// Why a member may not perform a command on a resource that they see. Its text is selected later, because most denials are
/// not shown.
#[derive(Clone, Copy, Debug)]
pub struct Denial {
    create: fn(String) -> BoardError,
    text: fn(&Texts) -> &'static str,
    reason: &'static str,
}

impl Denial {
    /// Returns a denial with the code `FORBIDDEN`.
    pub const fn forbidden(text: fn(&Texts) -> &'static str, reason: &'static str) -> Self {
        Self { create: |text| BoardError::forbidden(text), text, reason }
    }

    /// Returns a denial with the code `CONFLICT`.
    pub const fn conflict(text: fn(&Texts) -> &'static str, reason: &'static str) -> Self {
        Self { create: |text| BoardError::conflict(text), text, reason }
    }

    pub fn error(self, texts: &Texts) -> BoardError {
        (self.create)((self.text)(texts).into()).with_reason(self.reason)
    }
}

/// Returns the denial if this caller may not reply.
pub fn reply_denial(access: ForumPermissions, state: ContentState, locked: bool) -> Option<Denial> {
    match access {
        ForumPermissions { reply: false, .. } => {
            Some(Denial::forbidden(|texts| texts.may_not_reply, "not_allowed"))
        }
        ForumPermissions { moderate: false, .. } if locked => {
            Some(Denial::forbidden(|texts| texts.locked, "locked"))
        }
        _ if state != ContentState::Visible => {
            Some(Denial::forbidden(|texts| texts.not_visible, "closed"))
        }
        _ => None,
    }
}

/// Checks that the version is the one that the caller `expected`. `None` accepts every version.
pub fn check_version(expected: Option<i64>, version: i64, texts: &Texts) -> BoardResult<()> {
    if expected.is_some_and(|expected| expected != version) {
        return Err(BoardError::stale_version(texts.version_conflict));
    }
    Ok(())
}

/// State of new content by a member of these groups.
pub const fn first_state(groups: Groups) -> ContentState {
    if groups.contains(Group::Newcomers) {
        ContentState::AwaitingApproval
    } else {
        ContentState::Visible
    }
}

/// State of a post in this state after an edit by a member of these groups.
pub fn edited_state(state: ContentState, groups: Groups) -> ContentState {
    match state {
        ContentState::Visible => first_state(groups),
        state => state,
    }
}
