//! Rules for texts that members and administrators enter ([protocol](crate::guide::protocol), section 6.2).

/// Returns `true` if a text contains no control characters, line breaks or bidirectional overrides. Titles, subjects,
/// poll questions, poll options and token labels must be single-line texts. The library does not check the texts that
/// it passes to a [`Board`](crate::host::Board): the board must check them.
///
/// Rejects the general category `Cc` (which includes tab, line feed and U+0085), U+2028 and U+2029, the byte-order mark
/// U+FEFF, and the explicit directional characters U+202A to U+202E and U+2066 to U+2069. Allows the implicit marks
/// U+200E, U+200F and U+061C.
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
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Returns `true` if a text has no visible character: only white space, control and formatting characters (`Cc`, `Cf`),
/// variation selectors and empty fillers. A blank text is not a title, a body or a label.
///
/// ```
/// use forum_api::model::is_blank;
///
/// assert!(is_blank(" \u{200b}"));
/// assert!(!is_blank("."));
/// ```
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_invisible)
}

/// Returns `true` if a text that consists of the character is [blank](is_blank).
pub(crate) fn is_invisible(c: char) -> bool {
    let is_unseen = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    c.is_whitespace() || c.is_control() || is_unseen
}

/// Returns `true` if a terminal or a log line can show the character. Such a character can be part of a single-line
/// text, and is visible, white space, or a character that selects the glyph of another one.
pub(crate) fn is_printable(c: char) -> bool {
    let selects_glyph = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    is_single_line_char(c) && (c.is_whitespace() || selects_glyph || !is_invisible(c))
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
    use super::{is_blank, is_printable, is_single_line, text_to_html};

    #[test]
    fn a_single_line_text_has_no_control_characters_or_bidirectional_overrides() {
        for text in ["", " a  b ", "Grüße, 東京 ☎", "שלום\u{200f} abc", "e\u{301}", "👩\u{200d}💻"]
        {
            assert!(is_single_line(text), "{text:?}");
        }
        for refused in [
            '\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{2028}', '\u{2029}',
            '\u{202a}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{feff}',
        ] {
            let text = format!("a{refused}b");
            assert!(!is_single_line(&text), "{text:?}");
        }
    }

    #[test]
    fn a_text_without_a_visible_character_is_blank() {
        for blank in ["\u{ad}", "\u{115f}\u{1160}", "\u{2800}", "\u{3164}", "\u{feff}", "\u{e0041}"]
        {
            assert!(is_blank(blank), "{blank:?}");
        }
        for visible in ["a", "\u{301}", "\u{1f600}", "।"] {
            assert!(!is_blank(visible), "{visible:?}");
        }
    }

    #[test]
    fn a_printable_character_changes_no_other_text() {
        for printable in "a ü\u{a0}東\u{301}👩\u{200d}💻✔\u{fe0f}".chars() {
            assert!(is_printable(printable), "{printable:?}");
        }
        for unprintable in
            "\n\u{1b}\u{9b}\u{2028}\u{202e}\u{2066}\u{61c}\u{200b}\u{200e}\u{feff}\u{e0041}".chars()
        {
            assert!(!is_printable(unprintable), "{unprintable:?}");
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
            ("<a href='&\"'>", "<p>&lt;a href=&#39;&amp;&quot;&#39;&gt;</p>\n"),
        ] {
            assert_eq!(text_to_html(text), html, "{text:?}");
        }
    }
}
