//! Sizes of texts in JSON documents, as `serde_json` writes them.

/// Returns the size of a text in a JSON string, in bytes, without the quotation marks.
pub(super) fn string_size(text: &str) -> usize {
    sum(text, escape_size)
}

/// Returns the size of a text in a JSON string that is itself in a JSON string, in bytes, without the quotation marks.
#[cfg(any(feature = "mcp", test))]
pub(super) fn contained_string_size(text: &str) -> usize {
    sum(text, contained_escape_size)
}

fn sum(text: &str, size: impl Fn(u8) -> u8) -> usize {
    text.bytes().map(|byte| usize::from(size(byte))).sum()
}

/// Returns the size of a byte of a text in a JSON string, in bytes.
const fn escape_size(byte: u8) -> u8 {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        ..0x20 => 6,
        _ => 1,
    }
}

/// Returns the size of a byte of a text in a JSON string that is itself in a JSON string, in bytes. Each backslash and each
/// quotation mark of the inner string has two bytes in the outer one.
#[cfg(any(feature = "mcp", test))]
const fn contained_escape_size(byte: u8) -> u8 {
    match byte {
        b'"' | b'\\' => 4,
        ..0x20 => escape_size(byte) + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sizes_are_those_of_serde_json(text in "([a-z<>é😀]{0,40}[\"\\\\\n\t\r\u{8}\u{c}\0\u{1f}\u{7f}]?){0,8}") {
            let once = serde_json::to_string(&text).unwrap();
            let twice = serde_json::to_string(&once).unwrap();
            prop_assert_eq!(string_size(&text) + r#""""#.len(), once.len());
            prop_assert_eq!(contained_string_size(&text) + r#""\"\"""#.len(), twice.len());
        }
    }
}
