//! Strict decoder for queries and `application/x-www-form-urlencoded`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Splits a query or a form into pairs, which are still encoded. Skips empty pairs.
pub(crate) fn form_pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Decodes `+` and `%XX`. Unlike the crate `form_urlencoded`, returns `None` for an incomplete escape or invalid UTF-8.
pub(crate) fn form_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('+') {
        return percent_decode(text);
    }
    let spaced = percent_decode(&text.replace('+', " "))?.into_owned();
    Some(spaced.into())
}

/// Decodes `%XX`. Returns `None` if a `%` is not followed by two hexadecimal digits, or if the bytes are not UTF-8.
pub(crate) fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut escapes = text.split('%').skip(1);
    if !escapes.all(|escape| escape.get(..2).is_some_and(is_hex)) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_strictly() {
        let pairs: Vec<_> = form_pairs("a=1&&b==&c").collect();
        assert_eq!(pairs, [("a", "1"), ("b", "="), ("c", "")]);
        assert_eq!(form_decode("1+%2B+%C3%A4").as_deref(), Some("1 + ä"));
        for bad in ["%", "%4", "%zz", "%ff", "%4%41", "a+%"] {
            assert_eq!(form_decode(bad), None, "{bad}");
        }
    }
}
