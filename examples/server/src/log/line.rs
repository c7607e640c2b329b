//! Limits the length of log lines.

use std::borrow::Cow;

use serde_json::Value;

/// Maximum length of a line in bytes, with its line feed.
const MAX_LENGTH: usize = 8 * 1024;

/// End of a cut line with colors: resets the color of a terminal.
const RESET: &str = "\u{1b}[0m";

/// Returns a line of at most [`MAX_LENGTH`] bytes. Cuts the end of a longer line. If the line is JSON, cuts its longest
/// texts instead, so that the line stays valid.
pub fn limit(line: &[u8]) -> Cow<'_, [u8]> {
    if line.len() <= MAX_LENGTH {
        return Cow::Borrowed(line);
    }
    let mut text = String::from_utf8_lossy(line).into_owned();
    if let Ok(mut fields) = serde_json::from_str::<Value>(&text) {
        let mut max = MAX_LENGTH;
        while text.len() >= MAX_LENGTH && max > 0 {
            max /= 2;
            cut_texts(&mut fields, max);
            text = fields.to_string();
        }
    } else {
        let has_colors = text.contains(RESET);
        cut(&mut text, MAX_LENGTH - "…\n".len() - RESET.len());
        if has_colors {
            text.push_str(RESET);
        }
    }
    text.push('\n');
    Cow::Owned(text.into_bytes())
}

/// Cuts each text of a JSON value to `max` bytes.
fn cut_texts(value: &mut Value, max: usize) {
    match value {
        Value::String(text) => cut(text, max),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut_texts(field, max)),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, max)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts a text of more than `max` bytes at a character boundary, and marks the cut with `…`.
fn cut(text: &mut String, max: usize) {
    if text.len() > max {
        let end = (0..=max).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use std::str::from_utf8;

    use serde_json::json;

    use super::*;

    #[test]
    fn only_long_lines_are_cut() {
        let line = |length: usize| "x".repeat(length - 1) + "\n";
        let longest = line(MAX_LENGTH);
        assert_eq!(&*limit(longest.as_bytes()), longest.as_bytes());
        for letter in ["x", "ü", "茶", "\u{1f375}", "\n", "\u{1b}[0m"] {
            for start in 0..4 {
                let line = "x".repeat(start) + &letter.repeat(MAX_LENGTH) + "\n";
                let limited = limit(line.as_bytes());
                let cut = from_utf8(&limited).unwrap();
                let lengths = MAX_LENGTH - 12..=MAX_LENGTH;
                assert!(lengths.contains(&cut.len()), "{letter}");
                let text = cut.trim_end_matches('\n').trim_end_matches(RESET);
                assert!(text.ends_with('…'));
            }
        }
        // The longest cut line.
        assert_eq!(limit(RESET.repeat(MAX_LENGTH).as_bytes()).len(), MAX_LENGTH);
    }

    #[test]
    fn a_cut_line_in_json_is_json_with_all_fields() {
        for letter in ["x", "\"", "\u{7}", "茶", "\u{1f375}"] {
            for length in (8_000..8_300).step_by(7).chain([100_000]) {
                let text = letter.repeat(length);
                let line = json!({
                    "level": "ERROR",
                    "fields": { "error": text, "count": 7 },
                    "span": { "owner": text },
                });
                let limited = limit(format!("{line}\n").as_bytes()).into_owned();
                assert!(limited.len() <= MAX_LENGTH && limited.ends_with(b"\n"));
                let cut: Value = serde_json::from_slice(&limited).unwrap();
                let kept = json!([cut["level"], cut["fields"]["count"]]);
                assert_eq!(kept, json!(["ERROR", 7]));
                for text in [&cut["fields"]["error"], &cut["span"]["owner"]] {
                    assert!(text.as_str().unwrap().ends_with('…'));
                }
            }
        }
    }
}
