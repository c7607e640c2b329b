//! Entity tags and conditional requests.

use http::header::IF_NONE_MATCH;
use http::{HeaderMap, HeaderValue};
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

    /// Returns `true` if `if-none-match` lists this tag or is `*`. Compares weakly (RFC 9110, section 13.1.2). Other
    /// tags of the list can contain commas and bytes that are not ASCII.
    pub(crate) fn matches(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(IF_NONE_MATCH).iter();
        lines.map(HeaderValue::as_bytes).any(|line| {
            let mut tags = line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            line.trim_ascii() == b"*"
                || tags.any(|tag| tag.strip_prefix(b"W/").unwrap_or(tag) == self.0)
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
            (format!(", ,{},", tag.as_str()), true),
            (format!("\"é,\",{}", tag.as_str()), true),
            ("*".into(), true),
            ("\"x,*,y\"".into(), false),
            (", ".into(), false),
            (digits.clone(), false),
            (format!("\"{digits}0\""), false),
            (String::new(), false),
            ("\"x\"".into(), false),
        ] {
            let value = HeaderValue::from_bytes(listed.as_bytes()).unwrap();
            let headers = [(IF_NONE_MATCH, value)].into_iter().collect();
            assert_eq!(tag.matches(&headers), expected, "{listed}");
        }
    }
}
