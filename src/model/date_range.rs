//! Date ranges of searches ([protocol](crate::guide::protocol), section 12.6).

use std::time::Duration;

use jiff::civil::Date;
use schemars::{Schema, json_schema};

use super::serde_helpers::inline_schema;
use super::time::DAY;
use super::{Expected, Timestamp};
use crate::error::{ParseError, impl_as_str, impl_from_str, impl_serde_str};

/// Date range of a search: `24h`, `7d`, `30d`, `1y`, or two dates in UTC such as `2026-01-01..2026-02-01`. The end date
/// is exclusive. Either date can be omitted, but not both. `1y` is 365 days.
///
/// ```
/// use std::time::Duration;
///
/// use forum_api::model::{DateRange, Timestamp};
///
/// let now = Timestamp::parse("2026-03-08T12:00:00Z").unwrap();
/// let week = DateRange::parse("7d").unwrap();
/// assert_eq!(week.bounds(now), (Timestamp::parse("2026-03-01T12:00:00Z").ok(), None));
///
/// let until_march = DateRange::parse("..2026-03-01").unwrap();
/// assert_eq!(until_march.bounds(now), (None, Timestamp::parse("2026-03-01T00:00:00Z").ok()));
/// assert!(until_march.contains(now.saturating_sub(Duration::from_secs(8 * 24 * 60 * 60)), now));
/// assert!(!until_march.contains(now, now));
/// assert!(DateRange::parse("..").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateRange {
    text: String,
    kind: RangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RangeKind {
    Last(Duration),
    Between(Option<Timestamp>, Option<Timestamp>),
}

const LAST: [(&str, u32); 4] = [("24h", 1), ("7d", 7), ("30d", 30), ("1y", 365)];

impl DateRange {
    /// Parses a date range.
    ///
    /// # Errors
    /// [`ParseError`] if the text has another format, for example `..` without a date.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let last = LAST.iter().find(|(word, _)| *word == text);
        let kind = match last {
            Some((_, days)) => Some(RangeKind::Last(DAY * *days)),
            None => parse_between(text),
        };
        let text = text.into();
        kind.map(|kind| Self { text, kind }).ok_or(ParseError::new(Expected::DATE_RANGE.as_str()))
    }

    /// Returns the text that was parsed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the start (inclusive) and the end (exclusive) at the time `now`; `None` means unbounded.
    pub fn bounds(&self, now: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
        match self.kind {
            RangeKind::Last(duration) => (Some(now.saturating_sub(duration)), None),
            RangeKind::Between(from, until) => (from, until),
        }
    }

    /// Returns `true` if `time` is in the range at the time `now`.
    pub fn contains(&self, time: Timestamp, now: Timestamp) -> bool {
        let (from, until) = self.bounds(now);
        from.is_none_or(|from| time >= from) && until.is_none_or(|until| time < until)
    }
}

fn parse_between(text: &str) -> Option<RangeKind> {
    let (from, until) = text.split_once("..").filter(|ends| *ends != ("", ""))?;
    Some(RangeKind::Between(parse_end(from)?, parse_end(until)?))
}

/// Parses one date. `Some(None)` if it is omitted, `None` if it is malformed.
fn parse_end(text: &str) -> Option<Option<Timestamp>> {
    if text.is_empty() {
        return Some(None);
    }
    let date: Date = text.parse().ok().filter(|_| text.len() == 10)?;
    let midnight = format!("{date}T00:00:00Z");
    Timestamp::parse(&midnight).ok().map(Some)
}

impl_from_str!(DateRange);
impl_as_str!(DateRange);
impl_serde_str!(DateRange);

inline_schema!(DateRange, schema());

fn schema() -> Schema {
    let long = "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])";
    let short = "(0[469]|11)-(0[1-9]|[12][0-9]|30)";
    let february = "02-(0[1-9]|1[0-9]|2[0-8])";
    let leap_year = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";
    let date = format!("([0-9]{{4}}-({long}|{short}|{february})|{leap_year}-02-29)");
    json_schema!({
        "type": "string",
        "pattern": format!(r"^(24h|7d|30d|1y|{date}\.\.({date})?|\.\.{date})$"),
        "examples": ["7d", "2026-01-01..2026-02-01"],
    })
}

#[cfg(test)]
mod tests {
    use super::{DateRange, Timestamp};

    #[test]
    fn parses_periods_and_date_ranges() {
        let now = Timestamp::from_millis(10_000_000_000);
        let range = |text| {
            DateRange::parse(text).ok().map(|range| {
                let (start, end) = range.bounds(now);
                let millis = |bound: Option<Timestamp>| bound.map(Timestamp::as_millis);
                (millis(start), millis(end))
            })
        };
        assert!(DateRange::parse("..9999-12-31").is_ok());
        assert_eq!(range("24h"), Some((Some(9_913_600_000), None)));
        assert_eq!(range("1970-01-02.."), Some((Some(86_400_000), None)));
        assert_eq!(range("..1970-01-02"), Some((None, Some(86_400_000))));
        let day = (Some(0), Some(86_400_000));
        assert_eq!(range("1970-01-01..1970-01-02"), Some(day));
        let millis = Timestamp::from_millis;
        let day = DateRange::parse("1970-01-01..1970-01-02").unwrap();
        let contained = [-1, 0, 86_399_999, 86_400_000].map(|at| day.contains(millis(at), now));
        assert_eq!(contained, [false, true, true, false]);
        for text in [
            "",
            "..",
            "25h",
            "1970-01-01",
            "1970-13-01..",
            "a..b",
            "19700101..",
            "1970-01-01T00:00..",
            "1970-01-01...1970-01-02",
        ] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}
