//! Entity tags and conditional requests.

use http::HeaderMap;
use http::header::IF_NONE_MATCH;
use xxhash_rust::xxh3::xxh3_128;

/// Strong entity tag of a body: its hash in hexadecimal, in quotation marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntityTag([u8; 34]);

impl EntityTag {
    pub(crate) fn of(body: &[u8]) -> Self {
        let mut tag = [b'"'; 34];
        if let Some(digits) = tag.get_mut(1..33) {
            // 16 bytes have exactly 32 digits, so this cannot fail.
            let _ = base16ct::lower::encode(&xxh3_128(body).to_be_bytes(), digits);
        }
        Self(tag)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns `true` if `if-none-match` lists this tag or is `*`. Compares weakly (RFC 9110, section 13.1.2).
    pub(crate) fn matches(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(IF_NONE_MATCH).iter();
        let mut tags = lines.flat_map(|line| line.to_str().unwrap_or_default().split(','));
        tags.any(|tag| {
            let tag = tag.trim();
            tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.as_str()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_matches_itself_a_weak_tag_a_list_and_a_star() {
        let tag = EntityTag::of(b"body");
        let digits = format!("{:032x}", xxh3_128(b"body"));
        assert_eq!(tag.as_str(), format!("\"{digits}\""));
        for (listed, expected) in [
            (tag.as_str().to_owned(), true),
            (format!("W/{}", tag.as_str()), true),
            (format!("\"x\", {}", tag.as_str()), true),
            (format!("\"x\", W/\"y\", {}", tag.as_str()), true),
            ("*".into(), true),
            (digits.clone(), false),
            (format!("\"{digits}0\""), false),
            (String::new(), false),
            ("\"x\"".into(), false),
        ] {
            let headers = [(IF_NONE_MATCH, listed.parse().unwrap())]
                .into_iter()
                .collect();
            assert_eq!(tag.matches(&headers), expected, "{listed}");
        }
    }
}
