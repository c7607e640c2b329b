//! Relative times: "3 hours ago".

use crate::model::Timestamp;

/// The units in milliseconds, the longest first.
const UNITS: [(&str, i64); 4] = [
    ("year", 365 * DAY),
    ("day", DAY),
    ("hour", 60 * 60 * 1000),
    ("minute", 60 * 1000),
];

const DAY: i64 = 24 * 60 * 60 * 1000;

/// How long before `now` it was, in the longest unit of which there is a whole one; or how long after it will be,
/// rounded, so that a token that was just issued for 30 days does not expire in 29.
pub(super) fn relative(at: Timestamp, now: Timestamp) -> String {
    let apart = at.as_millis().saturating_sub(now.as_millis());
    let length = apart.saturating_abs();
    let Some((unit, millis)) = UNITS.into_iter().find(|(_, millis)| length >= *millis) else {
        return if apart > 0 { "in a moment" } else { "just now" }.into();
    };
    let half = if apart > 0 { millis / 2 } else { 0 };
    let count = length.saturating_add(half) / millis;
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
            (30 * 86_400, "in 30 days"),
            (30 * 86_400 - 5, "in 30 days"),
            (3 * 3600 - 90, "in 3 hours"),
            (-59 * 60 - 59, "59 minutes ago"),
            (36_500 * 86_400, "in 100 years"),
        ] {
            let at = Timestamp::from_millis(now.as_millis() + seconds * 1000);
            assert_eq!(relative(at, now), expected);
        }
        assert_eq!(exact(now), "2026-01-01 00:00:00 UTC");
    }
}
