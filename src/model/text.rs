//! Rules for texts that members and administrators enter (`docs/protocol.md`, section 6.2).

/// Returns whether a text contains no control characters, line breaks or bidirectional overrides. Titles, subjects, poll
/// questions, poll options and token labels must be single-line texts.
///
/// Rejects the general category `Cc` (which includes tab, line feed and U+0085), U+2028 and U+2029, and the explicit
/// directional characters U+202A to U+202E and U+2066 to U+2069. Allows the implicit marks U+200E, U+200F and U+061C.
///
/// ```
/// use forum_api::model::is_single_line;
///
/// assert!(is_single_line("Which tea?"));
/// assert!(!is_single_line("Which\ntea?"));
/// ```
pub fn is_single_line(text: &str) -> bool {
    text.chars().all(is_single_line_char)
}

/// Returns whether a single-line text can contain the character.
pub(crate) fn is_single_line_char(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
