//! Expiry of a token: empty, or 1 to 36500 days in ASCII digits.

use forum_api::model::Timestamp;
use forum_api::token::Expiry;

use crate::text;

const DAY: i64 = 86_400_000;

pub(super) fn check_property(data: &[u8]) {
    let Some(text) = text(data) else {
        return;
    };
    let ends = Expiry::parse(text).map(|expiry: Expiry| expiry.expires_at(Timestamp::default()));
    let days = ends.ok().map(|end| end.map(|end| end.as_millis() / DAY));
    assert_eq!(days, expected(text.trim()), "{text:?}");
}

/// Parses an expiry: never, a number of days, or `None` if invalid.
fn expected(text: &str) -> Option<Option<i64>> {
    if text.is_empty() {
        return Some(None);
    }
    let mut days = 0_i64;
    for digit in text.chars() {
        let digit = "0123456789".find(digit)?;
        days = (days * 10 + digit as i64).min(100_000);
    }
    (1..=36_500).contains(&days).then_some(Some(days))
}
