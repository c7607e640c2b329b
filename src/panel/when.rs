//! Times in words: "3 hours ago".

use crate::model::Timestamp;

/// Each unit with how many milliseconds it has, the longest first.
const UNITS: [(&str, i64); 5] = [
    ("year", 365 * DAY),
    ("month", 30 * DAY),
    ("day", DAY),
    ("hour", 60 * 60 * 1000),
    ("minute", 60 * 1000),
];

const DAY: i64 = 24 * 60 * 60 * 1000;

/// How long before `now` it was, or how long after it will be, in the longest unit of which there is a whole one.
pub(super) fn words(at: Timestamp, now: Timestamp) -> String {
    let apart = at.as_millis().saturating_sub(now.as_millis());
    let length = apart.saturating_abs();
    let Some((unit, count)) = UNITS
        .iter()
        .find_map(|(unit, millis)| match length / millis {
            0 => None,
            count => Some((unit, count)),
        })
    else {
        return if apart > 0 { "in a moment" } else { "just now" }.into();
    };
    let plural = if count == 1 { "" } else { "s" };
    match apart > 0 {
        true => format!("in {count} {unit}{plural}"),
        false => format!("{count} {unit}{plural} ago"),
    }
}

/// To the second, in UTC.
pub(super) fn exact(at: Timestamp) -> String {
    let text = at.to_string();
    let second = text.split('.').next().unwrap_or_default();
    format!("{} UTC", second.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unit_counts() {
        let now = Timestamp::from_millis(1_767_225_600_000);
        for (seconds, expected) in [
            (0, "just now"),
            (-59, "just now"),
            (59, "in a moment"),
            (-60, "1 minute ago"),
            (-3 * 3600 - 5, "3 hours ago"),
            (-86_400, "1 day ago"),
            (30 * 86_400, "in 1 month"),
            (29 * 86_400 + 10, "in 29 days"),
            (36_500 * 86_400, "in 100 years"),
        ] {
            let at = Timestamp::from_millis(now.as_millis() + seconds * 1000);
            assert_eq!(words(at, now), expected);
        }
        assert_eq!(exact(now), "2026-01-01 00:00:00 UTC");
    }
}
