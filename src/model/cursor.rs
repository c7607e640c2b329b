//! Cursors: positions in lists, as clients receive and send them ([protocol](crate::guide::protocol), section 7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::first_paragraph;
use crate::error::{ParseError, impl_as_str, impl_from_str, impl_serde_str};

const EXAMPLE: &str = "k3Jv0cZbpw4xNzY5ODYwODAwMDAwLjE3";

/// An opaque cursor, valid only for the list that returned it.
///
/// The library decodes it to the host's [`PageKey`](super::PageKey), so a host never receives a cursor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(
    inline,
    transform = first_paragraph,
    extend("maxLength" = 200, "examples" = [EXAMPLE])
)]
pub struct Cursor(String);

impl Cursor {
    /// Maximum length in bytes.
    pub const MAX_LEN: usize = 200;

    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// Parses the text that a client received. The service rejects a cursor that the list did not return.
    ///
    /// # Errors
    /// [`ParseError`] if the text is empty or longer than [`MAX_LEN`](Self::MAX_LEN).
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        if (1..=Self::MAX_LEN).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(ParseError::new("a cursor of at most 200 bytes"))
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl_from_str!(Cursor);
impl_as_str!(Cursor);
impl_serde_str!(Cursor);

/// A page of a list.
///
/// Clients receive it; a host returns a [`Page`](super::Page).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "{T}Page", transform = first_paragraph)]
pub struct CursorPage<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Cursor of the next page, to be sent as `after`; null on the last page.
    pub next: Option<Cursor>,
}

impl<T> CursorPage<T> {
    /// Creates a page with these items and a cursor, as an example of a response.
    pub fn example(items: impl Into<Vec<T>>) -> Self {
        Self { items: items.into(), next: Some(Cursor::new(EXAMPLE.into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, CursorPage};

    #[test]
    fn a_cursor_in_json_has_the_bounds_of_a_parsed_cursor() {
        for (length, is_cursor) in [(0, false), (1, true), (Cursor::MAX_LEN, true), (201, false)] {
            let text = "x".repeat(length);
            let json = format!(r#"{{"items":[],"next":"{text}"}}"#);
            let page = serde_json::from_str::<CursorPage<i64>>(&json);
            let expected = Cursor::parse(&text).ok();
            assert_eq!(expected.is_some(), is_cursor);
            assert_eq!(page.ok().and_then(|page| page.next), expected, "{length}");
        }
    }
}
