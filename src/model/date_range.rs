//! The span of time that a search is narrowed to (`docs/protocol.md`, section 12.9).

use std::fmt;
use std::time::Duration;

use jiff::civil::Date;
use schemars::{Schema, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::serde_helpers::inline_schema;
use super::{Expected, Timestamp};

/// `24h`, `7d`, `30d`, `1y`, or two dates of which either may be left out: `2026-01-01..2026-02-01`, the end exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateRange {
    text: String,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Last(Duration),
    Between(Option<Timestamp>, Option<Timestamp>),
}

const DAY: Duration = Duration::from_secs(86_400);
const LAST: [(&str, u32); 4] = [("24h", 1), ("7d", 7), ("30d", 30), ("1y", 365)];

impl DateRange {
    /// `None` for what is no span of time, `..` included.
    pub fn parse(text: &str) -> Option<Self> {
        let last = LAST.iter().find(|(word, _)| *word == text);
        let span = match last {
            Some((_, days)) => Span::Last(DAY * *days),
            None => between(text)?,
        };
        Some(Self {
            text: text.into(),
            span,
        })
    }

    /// From when (inclusive) and until when (exclusive), seen from `now`.
    pub fn bounds(&self, now: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
        match self.span {
            Span::Last(duration) => (Some(now.saturating_sub(duration)), None),
            Span::Between(from, until) => (from, until),
        }
    }
}

fn between(text: &str) -> Option<Span> {
    let (from, until) = text.split_once("..").filter(|ends| *ends != ("", ""))?;
    Some(Span::Between(end(from)?, end(until)?))
}

/// An end that is left out is `Some(None)`; one that is no date is `None`.
fn end(text: &str) -> Option<Option<Timestamp>> {
    if text.is_empty() {
        return Some(None);
    }
    let date: Date = text.parse().ok().filter(|_| text.len() == 10)?;
    Timestamp::parse(&format!("{date}T00:00:00Z")).map(Some)
}

impl fmt::Display for DateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Serialize for DateRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for DateRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| Expected::DateRange.error())
    }
}

inline_schema!(DateRange, "When", schema());

fn schema() -> Schema {
    let (long, short) = (
        "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
        "(0[469]|11)-(0[1-9]|[12][0-9]|30)",
    );
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
    fn spans() {
        let now = Timestamp::from_millis(10_000_000_000);
        let range = |text| {
            DateRange::parse(text).map(|when: DateRange| {
                let (a, b) = when.bounds(now);
                (a.map(Timestamp::as_millis), b.map(Timestamp::as_millis))
            })
        };
        assert!(DateRange::parse("..9999-12-31").is_some());
        assert_eq!(range("24h"), Some((Some(9_913_600_000), None)));
        assert_eq!(range("1970-01-02.."), Some((Some(86_400_000), None)));
        assert_eq!(range("..1970-01-02"), Some((None, Some(86_400_000))));
        assert_eq!(
            range("1970-01-01..1970-01-02"),
            Some((Some(0), Some(86_400_000)))
        );
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
