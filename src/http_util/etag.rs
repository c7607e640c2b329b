//! Conditional requests.

use http::HeaderMap;
use http::header::IF_NONE_MATCH;
use xxhash_rust::xxh3::xxh3_128;

/// A strong entity tag of a body: its hash in hexadecimal, with the quotation marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntityTag([u8; 34]);

impl EntityTag {
    pub(crate) fn of(body: &[u8]) -> Self {
        let mut tag = [b'"'; 34];
        if let Some(digits) = tag.get_mut(1..33) {
            // The length fits, so this cannot fail.
            let _ = base16ct::lower::encode(&xxh3_128(body).to_be_bytes(), digits);
        }
        Self(tag)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Whether `if-none-match` names this tag. Tags are compared weakly (RFC 9110, section 13.1.2).
    pub(crate) fn is_known(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(IF_NONE_MATCH).iter();
        let mut known = lines.flat_map(|line| line.to_str().unwrap_or_default().split(','));
        known.any(|known| {
            let known = known.trim();
            known == "*" || known.strip_prefix("W/").unwrap_or(known) == self.as_str()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_by_itself_weakly_in_a_list_or_by_a_star() {
        let tag = EntityTag::of(b"body");
        let digits = format!("{:032x}", xxh3_128(b"body"));
        assert_eq!(tag.as_str(), format!("\"{digits}\""));
        for (known, expected) in [
            (tag.as_str().to_owned(), true),
            (format!("W/{}", tag.as_str()), true),
            (format!("\"x\", {}", tag.as_str()), true),
            ("*".into(), true),
            (digits, false),
            ("\"x\"".into(), false),
        ] {
            let headers = [(IF_NONE_MATCH, known.parse().unwrap())];
            let headers = headers.into_iter().collect();
            assert_eq!(tag.is_known(&headers), expected, "{known}");
        }
    }
}
