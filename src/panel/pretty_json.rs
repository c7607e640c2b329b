//! Indentation of JSON texts.

/// Deepest level that is indented. It bounds the length of a deeply nested text.
const MAX_DEPTH: usize = 20;

/// Breaks a JSON text into indented lines. Keeps the order of fields and the spelling of strings and numbers.
pub fn pretty_json(text: &str) -> String {
    let mut pretty = String::new();
    let mut depth: usize = 0;
    let mut in_string = false;
    let mut is_escaped = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string {
            pretty.push(character);
            in_string = is_escaped || character != '"';
            is_escaped = character == '\\' && !is_escaped;
            continue;
        }
        match character {
            '{' | '[' => {
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                pretty.push(character);
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    pretty.push(end);
                } else {
                    depth += 1;
                    break_line(&mut pretty, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut pretty, depth);
                pretty.push(character);
            }
            ',' => {
                pretty.push(',');
                break_line(&mut pretty, depth);
            }
            ':' => pretty += ": ",
            _ if character.is_ascii_whitespace() => {}
            _ => {
                in_string = character == '"';
                pretty.push(character);
            }
        }
    }
    pretty
}

fn break_line(pretty: &mut String, depth: usize) {
    pretty.push('\n');
    pretty.extend(std::iter::repeat_n("  ", depth.min(MAX_DEPTH)));
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, pretty_json};

    #[test]
    fn json_is_indented_without_other_changes() {
        let text = r#"{"z":[1.50,{},[ ],{"a":null}],"b":"\\\"{[,:]}\" \\","e":{"c":-1e3}}"#;
        let expected = r#"{
  "z": [
    1.50,
    {},
    [],
    {
      "a": null
    }
  ],
  "b": "\\\"{[,:]}\" \\",
  "e": {
    "c": -1e3
  }
}"#;
        assert_eq!(pretty_json(text), expected);
        assert_eq!(pretty_json(expected), expected);
        assert_eq!(pretty_json("{} \"open"), "{}\"open");
    }

    #[test]
    fn a_deeply_nested_text_has_a_bounded_length() {
        let deep = "[".repeat(100_000);
        let line = "[\n".len() + 2 * MAX_DEPTH;
        assert!(pretty_json(&deep).len() <= line * deep.len());
    }
}
