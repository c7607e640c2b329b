//! Times: RFC 3339 in UTC with millisecond precision and `Z` ([protocol](crate::guide::protocol), section 6.1).

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimePrinter;
use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::Expected;
use super::serde_helpers::inline_schema;
use crate::error::{ParseError, impl_from_str};

/// Longest time by which the time of a record can be ahead of a correct clock: nodes read the time at different moments,
/// and their clocks differ. A record that is further ahead was written by a clock that was ahead.
pub(crate) const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A point in time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// ```
/// use std::time::{Duration, SystemTime, UNIX_EPOCH};
///
/// use forum_api::model::Timestamp;
///
/// let noon = Timestamp::parse("2026-01-31T13:00:00+01:00").unwrap();
/// assert_eq!(noon.to_string(), "2026-01-31T12:00:00.000Z");
/// assert_eq!(noon.as_millis(), 1_769_860_800_000);
///
/// let later = noon.saturating_add(Duration::from_millis(1500));
/// assert_eq!(later.saturating_duration_since(noon), Duration::from_millis(1500));
/// assert_eq!(noon.saturating_duration_since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates a time from milliseconds since 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds since 1970-01-01T00:00:00Z, rounded up.
    pub(crate) const fn as_secs_ceil(self) -> i64 {
        self.0.div_euclid(1000) + (self.0.rem_euclid(1000) != 0) as i64
    }

    /// Returns the time plus `duration`, or the latest time on overflow.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// Returns the time minus `duration`, or the earliest time on overflow.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// Returns the duration since `earlier`; zero if `earlier` is later.
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns the beginning of the interval that contains the time. The intervals are counted from
    /// 1970-01-01T00:00:00Z. `length` must be at least one millisecond.
    pub(crate) fn interval_start(self, length: Duration) -> Self {
        let rest = self.0.checked_rem_euclid(millis(length));
        Self(self.0.saturating_sub(rest.unwrap_or_default()))
    }

    /// Returns the time as RFC 3339 in UTC; `None` outside the years 0 to 9999.
    fn to_rfc3339(self) -> Option<String> {
        let civil = EPOCH
            .checked_add(SignedDuration::from_millis(self.0))
            .ok()
            .filter(|civil| civil.year() >= 0)?;
        Some(PRINTER.datetime_to_string(&civil) + "Z")
    }

    /// Parses an RFC 3339 time with any offset. Truncates to milliseconds.
    ///
    /// # Errors
    /// [`ParseError`] if the text has another format or the time is outside the years 0 to 9999 in UTC.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse_rfc3339(text).ok_or(ParseError::new(Expected::TIMESTAMP.as_str()))
    }
}

fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    let (local, rest) = text.split_at_checked("1970-01-01T00:00:00".len())?;
    let (fraction, offset) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
    let local: DateTime = local.parse().ok().filter(|_| has_separators(local))?;
    let millis = local.duration_since(EPOCH).as_millis();
    let since = i64::try_from(millis).ok()? + fraction_millis(fraction)? - offset_millis(offset)?;
    Some(Timestamp(since)).filter(|time| time.to_rfc3339().is_some())
}

impl_from_str!(Timestamp);

/// Truncates to milliseconds. A time that is too early or too late becomes the earliest or the latest time.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self(millis(since)),
            Err(before) => Self(millis(before.duration()).saturating_neg()),
        }
    }
}

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Returns `true` if the separators are those of RFC 3339: `jiff` also accepts other formats.
fn has_separators(text: &str) -> bool {
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    marks.into_iter().all(|(position, mark)| {
        let byte = text.as_bytes().get(position);
        byte.is_some_and(|byte| byte.eq_ignore_ascii_case(&mark))
    })
}

/// Parses an optional fraction, such as `.5`.
fn fraction_millis(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix('.').filter(|digits| is_digits(digits))?;
    format!("{digits:0<3}").get(..3)?.parse().ok()
}

/// Parses `Z` or an offset, such as `+01:00`.
fn offset_millis(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("Z") {
        return Some(0);
    }
    let (sign, offset) = text.split_at_checked(1)?;
    let (hours, minutes) = offset.split_once(':')?;
    let number = |text: &str, end| {
        let has_two_digits = text.len() == 2 && is_digits(text);
        let number = text.parse().ok().filter(|_| has_two_digits);
        number.filter(|number: &i64| *number < end)
    };
    let millis = (number(hours, 24)? * 60 + number(minutes, 60)?) * 60_000;
    match sign {
        "+" => Some(millis),
        "-" => Some(-millis),
        _ => None,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_rfc3339() {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}ms", self.0),
        }
    }
}

/// Fails for times outside the years 0 to 9999, which RFC 3339 cannot represent.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.to_rfc3339() {
            Some(text) => serializer.serialize_str(&text),
            None => Err(ser::Error::custom("a time is not in the years 0 to 9999")),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|_| Expected::TIMESTAMP.error())
    }
}

inline_schema!(
    Timestamp,
    json_schema!({
        "type": "string",
        "format": "date-time",
        "examples": ["2026-01-31T12:00:00.000Z"],
    })
);

#[cfg(test)]
mod tests {
    use super::{Duration, Timestamp, UNIX_EPOCH};

    #[test]
    fn a_time_prints_in_utc_with_milliseconds() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_767_225_600_007, "2026-01-01T00:00:00.007Z"),
            (-62_167_219_200_001, "-62167219200001ms"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (-30_610_224_000_001, "0999-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "253402300800000ms"),
            (371_023_007_068_800_000, "371023007068800000ms"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
    }

    #[test]
    fn any_offset_the_latest_second_and_any_fraction_are_parsed() {
        for (text, written) in [
            ("1970-01-01T01:00:00.5+01:00", "1970-01-01T00:00:00.500Z"),
            ("1969-12-31t20:00:00-04:00", "1970-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"),
            ("2026-01-01T00:00:00.123456789123Z", "2026-01-01T00:00:00.123Z"),
            ("2026-01-01T00:00:00.05+23:59", "2025-12-31T00:01:00.050Z"),
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), written);
        }
    }

    #[test]
    fn other_formats_are_rejected() {
        for text in [
            "",
            "yesterday",
            "1970-01-01",
            "1970-01-01T00:00Z",
            "1970-01-01T00:00:00",
            "1970-01-01 00:00:00Z",
            "19700101T000000Z",
            "1970-01-01T00:00:00,5Z",
            "1970-01-01T00:00:00+01",
            "1970-01-01T00:00:00+0100",
            "1970-01-01T00:00:00Z[UTC]",
            "1970-01-01T00:00:00Z01:00",
            "1970-01-01T00:00:00+01:00[Europe/Berlin]",
            "+001970-01-01T00:00:00Z",
            "1970-02-30T00:00:00Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.5",
            "1970-01-01T00:00:00+24:00",
            "1970-01-01T00:00:00+00:60",
            "1970-01-01T00:00:00++1:00",
            "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_system_time_is_converted_with_its_sign() {
        for millis in [0, 1_767_225_600_007, -1_500] {
            let distance = Duration::from_millis(i64::unsigned_abs(millis));
            let time = if millis < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance };
            assert_eq!(Timestamp::from(time), Timestamp::from_millis(millis));
        }
    }

    #[test]
    fn seconds_are_rounded_up() {
        for (millis, seconds) in [(0, 0), (1, 1), (1000, 1), (1001, 2), (-1, 0), (-1000, -1)] {
            assert_eq!(Timestamp::from_millis(millis).as_secs_ceil(), seconds);
        }
    }
}
