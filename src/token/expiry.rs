//! "Expires in (days)": a whole number of days, or nothing for never (`docs/protocol.md`, section 3.4).

use std::time::Duration;

use thiserror::Error;

use crate::model::Timestamp;

/// In how many days a token expires, if ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry(Option<u16>);

/// The text is neither empty nor a whole number from 1 to 36500. No token is created then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the expiry must be a whole number of days from 1 to 36500, or empty for no expiry")]
pub struct ParseExpiryError;

impl Expiry {
    /// It never expires.
    pub const NEVER: Self = Self(None);

    /// Reads what was typed into the field.
    ///
    /// # Errors
    /// [`ParseExpiryError`] for anything but blanks, or ASCII digits that say 1 to 36500.
    pub fn parse(text: &str) -> Result<Self, ParseExpiryError> {
        let digits = text.trim();
        if digits.is_empty() {
            return Ok(Self::NEVER);
        }
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseExpiryError);
        }
        let days = digits.trim_start_matches('0').parse().ok();
        days.filter(|days| (1..=36_500).contains(days))
            .map(|days| Self(Some(days)))
            .ok_or(ParseExpiryError)
    }

    /// When a token that is issued at `now` expires.
    pub fn expires_at(self, now: Timestamp) -> Option<Timestamp> {
        self.0
            .map(|days| now.saturating_add(Duration::from_secs(86_400) * days.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::Expiry;
    use crate::model::Timestamp;

    #[test]
    fn whole_days_or_nothing() {
        let days = |text| {
            Expiry::parse(text)
                .map(|expiry: Expiry| {
                    expiry
                        .expires_at(Timestamp::default())
                        .map(|end| end.as_millis() / 86_400_000)
                })
                .ok()
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
