//! Rules for texts that members and administrators enter ([protocol](crate::guide::protocol), section 6.2).

/// Returns `true` if a text contains no control characters, line breaks or bidirectional overrides. Titles, subjects,
/// poll questions, poll options and token labels must be single-line texts. The library does not check the texts that
/// it passes to a [`Board`](crate::host::Board): the board must check them.
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

/// Returns `true` if a single-line text can contain the character.
pub(crate) fn is_single_line_char(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `true` if a name is `[a-z_]+(\.[a-z_]+)+` of at most 64 characters, like the names of topics and audited
/// actions.
pub(crate) const fn is_dotted_name(name: &str) -> bool {
    if name.len() > 64 {
        return false;
    }
    let mut rest = name.as_bytes();
    let mut word_len = 0;
    let mut has_dot = false;
    while let [byte, others @ ..] = rest {
        match *byte {
            b'a'..=b'z' | b'_' => word_len += 1,
            b'.' if word_len > 0 => {
                word_len = 0;
                has_dot = true;
            }
            _ => return false,
        }
        rest = others;
    }
    has_dot && word_len > 0
}

/// Converts a plain text to HTML, for boards without markup: escapes it, encloses each block of lines in `<p>`, and
/// separates the lines of a block by `<br>`. Blank lines separate the blocks.
///
/// ```
/// use forum_api::model::text_to_html;
///
/// assert_eq!(text_to_html("Green\nor <b>?\n\nBlack."), "<p>Green<br>\nor &lt;b&gt;?</p>\n<p>Black.</p>\n");
/// ```
pub fn text_to_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + "<p></p>\n".len());
    let mut is_in_paragraph = false;
    for line in text.lines() {
        match (line.trim().is_empty(), is_in_paragraph) {
            (true, true) => html.push_str("</p>\n"),
            (true, false) => {}
            (false, true) => html.push_str("<br>\n"),
            (false, false) => html.push_str("<p>"),
        }
        is_in_paragraph = !line.trim().is_empty();
        if is_in_paragraph {
            push_escaped(&mut html, line);
        }
    }
    if is_in_paragraph {
        html.push_str("</p>\n");
    }
    html
}

fn push_escaped(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_single_line, text_to_html};

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

    #[test]
    fn html_of_a_text_has_only_paragraphs_and_line_breaks() {
        for (text, html) in [
            ("", ""),
            (" \n\n", ""),
            ("a", "<p>a</p>\n"),
            ("\n a \r\nb\n", "<p> a <br>\nb</p>\n"),
            ("a\n \n\nb", "<p>a</p>\n<p>b</p>\n"),
            (
                "<a href='&\"'>",
                "<p>&lt;a href=&#39;&amp;&quot;&#39;&gt;</p>\n",
            ),
        ] {
            assert_eq!(text_to_html(text), html, "{text:?}");
        }
    }
}
