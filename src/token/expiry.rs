//! Expiry of tokens: the form field "Expires in (days)" ([protocol](crate::guide::protocol), section 3.4).

use crate::error::{ParseError, impl_from_str};
use crate::model::{DAY, Timestamp};

/// Number of days until a token expires, from 1 to 36500, or [`NEVER`](Self::NEVER).
///
/// ```
/// use forum_api::model::Timestamp;
/// use forum_api::token::Expiry;
///
/// let now = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
/// let tomorrow = Timestamp::parse("2026-02-01T12:00:00Z").ok();
/// assert_eq!(Expiry::parse(" 1 ").unwrap().expires_at(now), tomorrow);
/// assert_eq!(Expiry::parse("").unwrap(), Expiry::NEVER);
/// assert!(Expiry::parse("1.5").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry(Option<u16>);

/// Maximum number of days: a hundred years.
const MAX_DAYS: u16 = 36_500;

const PARSE_ERROR: ParseError =
    ParseError::new("an expiry of 1 to 36500 whole days, or an empty text for no expiry");

impl Expiry {
    /// The token does not expire.
    pub const NEVER: Self = Self(None);

    /// Creates an expiry after a number of days.
    ///
    /// # Errors
    /// [`ParseError`] unless `days` is from 1 to 36500.
    pub fn from_days(days: u16) -> Result<Self, ParseError> {
        if (1..=MAX_DAYS).contains(&days) { Ok(Self(Some(days))) } else { Err(PARSE_ERROR) }
    }

    /// Parses the text of the form field. Surrounding whitespace is removed; an empty text means [`NEVER`](Self::NEVER).
    ///
    /// # Errors
    /// [`ParseError`] unless the text is empty or ASCII digits with a value from 1 to 36500. Leading zeros are allowed.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let digits = text.trim();
        if digits.is_empty() {
            return Ok(Self::NEVER);
        }
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(PARSE_ERROR);
        }
        let days = digits.trim_start_matches('0').parse();
        Self::from_days(days.map_err(|_| PARSE_ERROR)?)
    }

    /// Returns the expiry time of a token that is issued at `now`; `None` if it does not expire.
    pub fn expires_at(self, now: Timestamp) -> Option<Timestamp> {
        self.0.map(|days| now.saturating_add(DAY * days.into()))
    }
}

impl_from_str!(Expiry);

#[cfg(test)]
mod tests {
    use super::Expiry;
    use crate::model::Timestamp;

    #[test]
    fn an_expiry_is_empty_or_a_whole_number_of_days() {
        let days = |text| {
            let expires_at = |expiry: Expiry| expiry.expires_at(Timestamp::default());
            let days = |time: Timestamp| time.as_millis() / 86_400_000;
            Expiry::parse(text).ok().map(|expiry| expires_at(expiry).map(days))
        };
        for (text, expected) in [
            ("", Some(None)),
            ("  ", Some(None)),
            ("1", Some(Some(1))),
            (" 30 ", Some(Some(30))),
            ("007", Some(Some(7))),
            ("36500", Some(Some(36_500))),
        ] {
            assert_eq!(days(text), expected, "{text:?}");
        }
        for text in [
            "0",
            "00",
            "-1",
            "+1",
            "1.5",
            "1e3",
            "ten",
            "١",
            "36501",
            "99999999999999999999",
            "1 0",
            "1d",
            "0x1",
            "1_0",
            "٣٠",
            "½",
        ] {
            assert_eq!(days(text), None, "{text:?}");
        }
    }
}
