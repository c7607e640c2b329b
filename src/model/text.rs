//! Rules for texts that members and administrators enter (`docs/protocol.md`, section 6.2).

/// Whether a text is a single-line text: it has no control character, no line break, and no character that overrides
/// or embeds the direction of the text around it. A title, a subject and the label of a token must be one.
///
/// Refused are the general category `Cc` (which includes tab, line feed and U+0085), U+2028 and U+2029, and the explicit
/// directional characters U+202A-U+202E and U+2066-U+2069. The implicit marks U+200E, U+200F and U+061C are allowed.
pub fn is_single_line(text: &str) -> bool {
    !text.chars().any(|c| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

#[cfg(test)]
mod tests {
    use super::is_single_line;

    #[test]
    fn a_single_line_text_has_no_control_characters_or_bidirectional_overrides() {
        for text in [
            "",
            " a  b ",
            "Grüße, 東京 ☎",
            "שלום\u{200f} abc",
            "e\u{301}",
            "👩\u{200d}💻",
        ] {
            assert!(is_single_line(text), "{text:?}");
        }
        for refused in [
            '\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{2028}', '\u{2029}',
            '\u{202a}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2069}',
        ] {
            let text = format!("a{refused}b");
            assert!(!is_single_line(&text), "{text:?}");
        }
    }
}
