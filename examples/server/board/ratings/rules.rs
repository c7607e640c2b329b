//! The board's rules on ratings: pure functions of values.

use forum_api::host::{Refusal, Result};

use super::super::rules::line;
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
    obstacle.map_or(Ok(()), |text| Err(Refusal::Invalid(text)))
}

/// The comment without the blanks around it, if a rating may have it.
pub fn comment<'a>(text: &'a str, limits: Limits, say: &Texts) -> Result<&'a str> {
    if limits.empty_comment && text.trim().is_empty() {
        return Ok("");
    }
    let (missing, too_long) = (say.ratings.comment_missing, say.ratings.comment_too_long);
    line(text, limits.comment, missing, too_long)
}
