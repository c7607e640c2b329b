//! The board's rules on posting: pure functions of values.

use std::time::Duration;

use forum_api::host::{Refusal, Result};
use forum_api::model::{State, Timestamp, is_single_line};

use super::access::Access;
use super::groups::{Group, Groups};
use super::texts::{Texts, fill};

/// Over how long a time posts are counted.
pub const HOUR: Duration = Duration::from_secs(60 * 60);

/// Over how long a time ratings are counted.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The title without the blanks around it, if it is a single-line text of 1 to `most` characters.
pub fn title<'a>(text: &'a str, most: u32, say: &Texts) -> Result<&'a str> {
    line(
        "title",
        text,
        most,
        (say.title_missing, say.title_too_long),
        say,
    )
}

/// The text without the blanks around it, if it is a single-line text of 1 to `most` characters; otherwise what is
/// `missing`, or `too_long`.
pub fn line<'a>(
    field: &'static str,
    text: &'a str,
    most: u32,
    (missing, too_long): (&str, &str),
    say: &Texts,
) -> Result<&'a str> {
    let trimmed = text.trim();
    within(field, trimmed, most, missing, too_long)?;
    is_single_line(text)
        .then_some(trimmed)
        .ok_or_else(|| Refusal::invalid(field, say.not_single_line))
}

/// Whether a body is not blank and has at most `most` characters.
pub fn body(text: &str, most: u32, say: &Texts) -> Result<()> {
    within("body", text, most, say.body_missing, say.body_too_long)
}

/// Whether the reason of an edit has at most `most` characters.
pub fn reason(text: &str, most: u32, say: &Texts) -> Result<()> {
    at_most("reason", text, most, say.reason_too_long)
}

/// Whether a text is not blank and has at most `most` characters; otherwise what is `missing`, or `too_long`.
pub fn within(
    field: &'static str,
    text: &str,
    most: u32,
    missing: &str,
    too_long: &str,
) -> Result<()> {
    if is_blank(text) {
        return Err(Refusal::invalid(field, missing));
    }
    at_most(field, text, most, too_long)
}

fn at_most(field: &'static str, text: &str, most: u32, too_long: &str) -> Result<()> {
    let fits = text.chars().count() <= most as usize;
    fits.then_some(())
        .ok_or_else(|| Refusal::invalid(field, fill(too_long, most)))
}

/// Returns whether a text has no visible character.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_invisible)
}

/// White space, control and formatting characters (`Cc` and `Cf`), variation selectors, and fillers that are empty.
fn is_invisible(c: char) -> bool {
    let is_unseen = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    c.is_whitespace() || c.is_control() || is_unseen
}

/// Whether `interval` seconds have passed since the member's last post. Staff need not wait.
pub fn interval(
    last: Option<Timestamp>,
    now: Timestamp,
    interval: u32,
    groups: Groups,
    say: &Texts,
) -> Result<()> {
    let waited = last.is_none_or(|last| now.since(last) >= Duration::from_secs(interval.into()));
    let fine = waited || groups.are_staff();
    fine.then_some(())
        .ok_or_else(|| Refusal::invalid("body", fill(say.too_soon, interval)))
}

/// Whether one more is within `most` in a `span` of time, when the `most`-last of the member's was at `oldest`;
/// otherwise there are `too_many`.
pub fn pace(
    oldest: Option<Timestamp>,
    now: Timestamp,
    most: u32,
    span: Duration,
    too_many: &str,
) -> Result<()> {
    let free = oldest.map(|oldest| oldest.plus(span).since(now));
    match free {
        Some(wait) if !wait.is_zero() => Err(Refusal::TooFast(fill(too_many, most), Some(wait))),
        _ => Ok(()),
    }
}

/// Whether the caller may start a thread in a forum.
pub fn start(access: Access, say: &Texts) -> Result<()> {
    match access {
        Access { read: false, .. } => Err(Refusal::Absent),
        Access { start: false, .. } => Err(Refusal::Forbidden(say.may_not_start.into())),
        _ => Ok(()),
    }
}

/// What keeps somebody with this access from replying to such a thread, as the board says it.
pub fn obstacle(access: Access, state: State, locked: bool) -> Option<fn(&Texts) -> &'static str> {
    match access {
        Access { reply: false, .. } => Some(|say| say.may_not_reply),
        Access {
            moderate: false, ..
        } if locked => Some(|say| say.locked),
        _ if state != State::Visible => Some(|say| say.not_visible),
        _ => None,
    }
}

/// Whether what is at this version is still what the caller `expected`.
pub fn expected(expected: Option<i64>, version: i64, say: &Texts) -> Result<()> {
    let same = expected.is_none_or(|expected| expected == version);
    same.then_some(())
        .ok_or_else(|| Refusal::Conflict(say.stale.into()))
}

/// In which state something begins that somebody in these groups writes.
pub const fn first_state(groups: Groups) -> State {
    if groups.contains(Group::Newcomers) {
        State::AwaitingApproval
    } else {
        State::Visible
    }
}

/// State of a post in this state after an edit by a member of these groups.
pub fn edited_state(state: State, groups: Groups) -> State {
    match state {
        State::Visible => first_state(groups),
        state => state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forum_api::Language;

    const SAY: &Texts = Texts::of(Language::English);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::default().plus(Duration::from_secs(seconds))
    }

    #[test]
    fn contents_are_counted_in_characters() {
        for (text, fits) in [
            ("", false),
            (" \t\n", false),
            ("\u{3164}\u{2800}", false),
            ("\u{202e}\u{202c}", false),
            ("\u{fff9}\u{1b}\u{600}", false),
            ("ä", true),
            (" äöü ", true),
            ("äöüß", false),
        ] {
            assert_eq!(title(text, 3, SAY).is_ok(), fits, "{text:?}");
        }
        assert_eq!(title(" äöü ", 3, SAY).unwrap(), "äöü");
        assert!(body(" äöü ", 5, SAY).is_ok());
        assert!(body(" äöü ", 4, SAY).is_err());
    }

    #[test]
    fn a_title_is_a_single_line_and_a_body_is_not() {
        for text in [
            "a\nb",
            "a\n",
            "a\tb",
            "a\u{1b}[31m",
            "a\u{2028}b",
            "a\u{202e}b",
        ] {
            let Err(Refusal::Invalid { field, message }) = title(text, 9, SAY) else {
                panic!("{text:?}");
            };
            assert_eq!((field, message.as_str()), ("title", SAY.not_single_line));
            assert!(body(text, 9, SAY).is_ok());
        }
    }

    #[test]
    fn a_reason_may_be_empty_but_not_endless() {
        for (length, fits) in [(0, true), (120, true), (121, false)] {
            assert_eq!(reason(&"ä".repeat(length), 120, SAY).is_ok(), fits);
        }
    }

    #[test]
    fn an_interval_is_over_at_its_very_end() {
        let member = Groups::of([Group::Guests, Group::Members]);
        for (last, seconds, groups, fine) in [
            (None, 15, member, true),
            (Some(at(86)), 15, member, false),
            (Some(at(85)), 15, member, true),
            (Some(at(100)), 0, member, true),
            (Some(at(200)), 15, member, false),
            (Some(at(100)), 15, member.with(Group::Staff), true),
        ] {
            assert_eq!(
                interval(last, at(100), seconds, groups, SAY).is_ok(),
                fine,
                "{last:?}"
            );
        }
    }

    #[test]
    fn an_hour_is_over_at_its_very_end_and_the_wait_is_told() {
        let fourth = |oldest| pace(oldest, at(5000), 3, HOUR, SAY.too_many_posts);
        assert!(fourth(None).is_ok());
        assert!(fourth(Some(at(1400))).is_ok());
        let Err(Refusal::TooFast(text, Some(wait))) = fourth(Some(at(1401))) else {
            panic!("it is full");
        };
        assert_eq!(wait, Duration::from_secs(1));
        assert_eq!(text, "No more than 3 posts an hour are allowed.");
    }

    #[test]
    fn what_keeps_from_replying_is_told() {
        let nobody = Access::default();
        let member = Access {
            reply: true,
            ..nobody
        };
        let moderator = Access {
            moderate: true,
            ..member
        };
        for (access, state, locked, reason) in [
            (nobody, State::Visible, false, Some(SAY.may_not_reply)),
            (nobody, State::Visible, true, Some(SAY.may_not_reply)),
            (member, State::Visible, false, None),
            (member, State::Visible, true, Some(SAY.locked)),
            (
                member,
                State::AwaitingApproval,
                false,
                Some(SAY.not_visible),
            ),
            (moderator, State::Visible, true, None),
            (moderator, State::Deleted, true, Some(SAY.not_visible)),
        ] {
            assert_eq!(
                obstacle(access, state, locked).map(|reason| reason(SAY)),
                reason
            );
        }
    }

    #[test]
    fn nobody_starts_where_they_do_not_read() {
        let (absent, sees) = (
            Access::default(),
            Access {
                read: true,
                ..Access::default()
            },
        );
        assert!(matches!(start(absent, SAY), Err(Refusal::Absent)));
        assert!(matches!(start(sees, SAY), Err(Refusal::Forbidden(_))));
        assert!(
            start(
                Access {
                    start: true,
                    ..sees
                },
                SAY
            )
            .is_ok()
        );
    }
}
