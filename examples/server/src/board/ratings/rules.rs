//! The board's rules on ratings: pure functions of values.

use forum_api::host::{Refusal, Result};

use super::super::rules::{is_blank, within};
use super::super::texts::{Texts, fill};

/// What the board's settings allow.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many points one rating may give or take.
    pub points: u32,
    /// Whether points may be taken.
    pub negative: bool,
    /// Whether the comment may be empty.
    pub empty_comment: bool,
    /// How many characters the comment may have.
    pub comment: u32,
}

/// Whether a rating may give so many points.
pub fn points(points: i64, limits: Limits, say: &Texts) -> Result<()> {
    let obstacle = match points {
        0 => Some(say.ratings.points_missing.into()),
        _ if points.unsigned_abs() > limits.points.into() => {
            Some(fill(say.ratings.too_many_points, limits.points))
        }
        ..0 if !limits.negative => Some(say.ratings.negative.into()),
        _ => None,
    };
    obstacle.map_or(Ok(()), |text| Err(Refusal::invalid("points", text)))
}

/// The comment without the blanks around it, if a rating may have it.
pub fn comment<'a>(text: &'a str, limits: Limits, say: &Texts) -> Result<&'a str> {
    if limits.empty_comment && is_blank(text) {
        return Ok("");
    }
    let (missing, too_long) = (say.ratings.comment_missing, say.ratings.comment_too_long);
    let text = text.trim();
    within("comment", text, limits.comment, missing, too_long)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forum_api::Language;

    const SAY: &Texts = Texts::of(Language::English);
    const LIMITS: Limits = Limits {
        points: 5,
        negative: false,
        empty_comment: false,
        comment: 3,
    };

    #[test]
    fn points_are_some_and_not_too_many() {
        let negative = Limits {
            negative: true,
            ..LIMITS
        };
        for (given, fine, fine_with_negative) in [
            (0, false, false),
            (1, true, true),
            (5, true, true),
            (6, false, false),
            (-1, false, true),
            (-5, false, true),
            (-6, false, false),
            (i64::MIN, false, false),
            (i64::MAX, false, false),
        ] {
            assert_eq!(points(given, LIMITS, SAY).is_ok(), fine, "{given}");
            assert_eq!(
                points(given, negative, SAY).is_ok(),
                fine_with_negative,
                "{given}"
            );
        }
    }

    #[test]
    fn a_comment_is_there_unless_it_may_be_empty() {
        let free = Limits {
            empty_comment: true,
            ..LIMITS
        };
        for (text, kept, kept_if_free) in [
            ("", None, Some("")),
            (" \n", None, Some("")),
            (" äöü ", Some("äöü"), Some("äöü")),
            ("äöüß", None, None),
        ] {
            assert_eq!(comment(text, LIMITS, SAY).ok(), kept, "{text:?}");
            assert_eq!(comment(text, free, SAY).ok(), kept_if_free, "{text:?}");
        }
    }
}
