//! Cursors and pages on the wire ([protocol](crate::guide::protocol), section 7).
//!
//! A [`Cursor`] is the opaque text that clients send and receive. A [`PageKey`] is the host's position in a list. Only
//! this module converts between them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use super::error::{ApiError, ApiResult};
use super::extract::error::{InputError, InputResult};
use crate::model::{Cursor, CursorPage, CursorScope, Expected, Page, PageKey, UserId};

/// Query parameter that holds a cursor.
pub(crate) const AFTER: &str = "after";

/// Length of the checksum, in bytes.
const CHECKSUM_LEN: usize = 8;

impl CursorScope {
    /// Creates the scope of a list. `owner` is the caller if the list is personal; otherwise `None`.
    pub(crate) fn new(
        path: &str,
        owner: Option<&UserId>,
        filters: &impl Serialize,
    ) -> serde_json::Result<Self> {
        let path = xxh3_64_with_seed(path.as_bytes(), 0);
        let mut hash = Xxh3::with_seed(path);
        serde_json::to_writer(&mut hash, filters)?;
        let owner = owner.map(ToString::to_string).unwrap_or_default();
        Ok(Self(xxh3_64_with_seed(owner.as_bytes(), hash.digest())))
    }

    fn checksum(self, key: &[u8]) -> [u8; CHECKSUM_LEN] {
        xxh3_64_with_seed(key, self.0).to_be_bytes()
    }

    /// Encodes a page key; `None` if it is [invalid](is_valid_key).
    fn encode(self, key: &PageKey) -> Option<Cursor> {
        is_valid_key(key).then(|| self.encode_any(key))
    }

    fn encode_any(self, key: &PageKey) -> Cursor {
        let key = key.as_str().as_bytes();
        let bytes = [&self.checksum(key), key].concat();
        Cursor::new(BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Decodes a cursor. Rejects cursors that this list did not return.
    pub(crate) fn decode(self, cursor: &str) -> InputResult<PageKey> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).unwrap_or_default();
        let parts = bytes.split_at_checked(CHECKSUM_LEN);
        let own = parts.filter(|(checksum, key)| self.checksum(key) == *checksum);
        let key = own.and_then(|(_, key)| std::str::from_utf8(key).ok());
        key.map(PageKey::new)
            .filter(is_valid_key)
            .ok_or_else(|| InputError::expected(AFTER, Expected::CURSOR))
    }
}

/// Returns `true` if a list may return the key. A client can forge a cursor with any key; keys with U+0000 are rejected
/// because not every database accepts this character.
fn is_valid_key(key: &PageKey) -> bool {
    let text = key.as_str();
    text.len() <= PageKey::MAX_LEN && !text.contains('\0')
}

/// Adds the cursor to the schema of a list's query parameters.
pub(crate) fn add_parameter(params: &mut Schema, generator: &mut SchemaGenerator) {
    let mut cursor = Cursor::json_schema(generator);
    // An example could not continue a list.
    cursor.remove("examples");
    cursor.insert("description".into(), "`next` of the previous page, an opaque cursor of at most 200 characters. Default: the first page.".into());
    let properties = params.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties {
        properties.insert(AFTER.into(), cursor.into());
    }
}

/// Converts a host's page.
pub(crate) fn to_wire<T>(page: Page<T>, scope: Option<CursorScope>) -> ApiResult<CursorPage<T>> {
    let Page { items, next } = page;
    let encode = |key: PageKey| {
        let cursor = scope.and_then(|scope| scope.encode(&key));
        cursor.ok_or_else(|| {
            let length = key.as_str().len();
            let max = PageKey::MAX_LEN;
            ApiError::internal(format!(
                "a page key has {length} bytes, and the maximum is {max}, or contains U+0000; use only the sort key"
            ))
        })
    };
    let next = next.map(encode).transpose()?;
    Ok(CursorPage { items, next })
}

#[cfg(test)]
mod tests {
    use super::{Cursor, CursorScope, PageKey};

    #[test]
    fn the_longest_page_key_fits_into_200_characters() {
        let list = CursorScope(0);
        for (length, fits) in [(PageKey::MAX_LEN, true), (PageKey::MAX_LEN + 1, false)] {
            let cursor = list.encode(&PageKey::new("x".repeat(length)));
            let is_short = |cursor: Cursor| cursor.as_str().len() <= Cursor::MAX_LEN;
            assert_eq!(cursor.is_some_and(is_short), fits);
        }
    }

    #[test]
    fn a_forged_cursor_with_a_key_that_no_list_returns_is_rejected() {
        let list = CursorScope(0);
        for (key, is_valid) in [
            ("7".to_owned(), true),
            ("x".repeat(PageKey::MAX_LEN + 1), false),
            ("7\0".into(), false),
        ] {
            let key = PageKey::new(key);
            let cursor = list.encode_any(&key);
            assert_eq!(list.decode(cursor.as_str()).is_ok(), is_valid, "{key}");
            assert_eq!(list.encode(&key).is_some(), is_valid, "{key}");
        }
    }
}
